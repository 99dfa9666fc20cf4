"""Bundled families use nothing that a third party cannot: each works the same as a package of somebody else."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grid_core.build import BuildOptions, make_request
from grid_core.build.targets import UnitInputs
from grid_core.model import load_model
from grid_core.plugins.manager import DISABLE, load_catalogue, survey_plugins
from grid_core.testing import ROBOTS, inspect_plugin
from tests.grid_core.units import PENDULUM

BUNDLED = load_catalogue()
FAMILIES = {plugin.name: Path(plugin.file).parent for plugin in BUNDLED.plugins if plugin.origin == "package grid-rbd"}


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of a bundled family as a package of its own, while the bundled one is left out."""
    name = f"third_party_{request.param}"
    monkeypatch.setenv(DISABLE, request.param)
    load_catalogue.cache_clear()
    survey_plugins.cache_clear()
    folder = tmp_path / name
    shutil.copytree(FAMILIES[request.param], folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in folder.rglob("*.py"):
        file.write_text(file.read_text().replace(f"grid_plugins.{request.param}", name))
    assert "grid_plugins" not in "".join(file.read_text() for file in folder.rglob("*.py"))
    yield folder
    load_catalogue.cache_clear()
    survey_plugins.cache_clear()
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        del sys.modules[module]


def test_a_copy_keeps_every_rule(family: Path) -> None:
    assert {finding.status for finding in inspect_plugin(family)} == {"ok"}


def test_a_copy_makes_the_same_code(family: Path) -> None:
    own = family.name.removeprefix("third_party_")
    names = [n for n, a in BUNDLED.algorithms.items() if BUNDLED.providers[n].name == own and a.emit and not a.needs]
    assert len(names) > 1
    request = make_request(PENDULUM, BuildOptions(), algorithm_list=names[:2], plugin_files=[family])
    copied, model = request.catalogue, load_model(request.source)
    for name in names[:2]:
        assert copied.providers[name].name == family.name
        texts = [
            request.target.render(
                UnitInputs(
                    catalogue.algorithms[name], model, catalogue.algorithms, request.options,
                    catalogue.template_folders([name]), request.level,
                )
            )
            for catalogue in (BUNDLED, copied)
        ]  # fmt: skip
        assert texts[0] == texts[1]


def test_the_sample_robots_cover_both_bases() -> None:
    assert [robot.floating_base for robot in ROBOTS] == [False, True]
