"""Keys: everything that can change a unit is in them, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from grid_core.build import BuildOptions, RobotRequest
from grid_core.build import request as request_module
from grid_core.build.options import make_options
from grid_core.errors import OptionError
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins import sources
from grid_core.plugins.manager import DISABLE, GROUP, load_catalogue, survey_plugins
from grid_store import Key, differences
from tests.grid_core.units import PENDULUM

Make = Callable[..., RobotRequest]
IDENTITY = {"kind": "gcc", "version": "12.2", "target": "x86_64-linux-gnu", "options": ""}
DYNAMICS: dict[str, Any] = {"use_joint_dynamics": True}
SMOOTH: dict[str, Any] = {**DYNAMICS, "friction_model": "tanh"}


def key_of(request: RobotRequest, algorithm: str = "crba", **compiler: str) -> Key:
    return request.unit_key(algorithm, {**IDENTITY, **compiler})


def changed(before: Key, after: Key) -> list[str]:
    return [difference.name for difference in differences(before.components, after)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"floating_base": True}),
        ({}, {"follow_mimic": False}),
        ({}, {"dtype": "float64"}),
        ({}, DYNAMICS),
        (DYNAMICS, SMOOTH),
        (SMOOTH, {**SMOOTH, "friction_width": 0.1}),
        ({**SMOOTH, "friction_width": 0.1}, {**SMOOTH, "friction_width": [0.1, 0.1]}),
        ({**SMOOTH, "friction_width": [0.1, 0.2]}, {**SMOOTH, "friction_width": [0.2, 0.1]}),
    ],
)
def test_every_option_counts(before: dict[str, Any], after: dict[str, Any], request_for: Make) -> None:
    one, other = (request_for(options=make_options(**o)) for o in (before, after))
    assert changed(key_of(one), key_of(other)) == ["options"]
    assert one.identity().digest != other.identity().digest


def test_run_time_tables_count(request_for: Make) -> None:
    keys = {
        key_of(request_for(options=BuildOptions(settings=TraceSettings(runtime=frozenset(tables))))).digest
        for tables in ((), ("inertia",), ("transform",), ("inertia", "transform"), ("transform", "inertia"))
    }
    assert len(keys) == 4


def test_description_target_and_compiler_count(request_for: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for()
    base = key_of(request)
    edited = request_for(source=PENDULUM.read_bytes().replace(b"0.05", b"0.06"))
    assert changed(base, key_of(edited)) == ["description"]
    assert changed(base, key_of(request, "minv")) == ["algorithm"]
    for name in IDENTITY:
        assert changed(base, key_of(request, **{name: "other"})) == ["compiler"]
    assert changed(base, key_of(replace(request, level="armv8"))) == ["level"]
    monkeypatch.setattr(request_module, "core_digest", lambda: "another core")
    assert changed(base, key_of(request)) == ["core"]


def test_floating_and_mimic_give_other_models(request_for: Make) -> None:
    keys = {
        request_for(options=make_options(**o)).model_key().digest
        for o in ({}, {"floating_base": True}, {"follow_mimic": False}, {"dtype": "float64"}, DYNAMICS)
    }
    assert len(keys) == 3, "precision and friction do not change the model"


def test_the_environment_does_not_count(request_for: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, identity = key_of(request_for()), request_for().identity()
    for name in ("HOME", "TMPDIR", "LANG", "PYTHONHASHSEED", "USER", "CPATH", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "noise")
    monkeypatch.chdir(tmp_path)
    moved = tmp_path / "another name.urdf"
    moved.write_bytes(PENDULUM.read_bytes())
    for source in (moved, str(moved), PENDULUM.read_bytes(), PENDULUM.read_text()):
        request = request_for(["minv", "crba"], source=source)
        assert key_of(request).digest == before.digest
    assert request_for(source=moved, compiler="clang++").identity().digest == identity.digest, "the compiler is apart"


def test_a_plugin_counts_for_what_it_contributes_to(request_for: Make, tmp_path: Path) -> None:
    source = (
        "from grid_core.plugins import Algorithm, Input, Output, hookimpl\n"
        "def emit(k):\n    k.output('y', [x for row in k.call('crba', q=k.input('q')) for x in row][:1])\n"
        "@hookimpl\ndef grid_algorithms():\n    return [Algorithm('first_entry', 'toys', 'A toy.', "
        "(Input('q', ('nq',), 'in'),), (Output('y', ('1',), 'out'),), emit, requires=('crba',))]\n"
    )
    path = tmp_path / "toys.py"

    def keys() -> dict[str, Key]:
        load_catalogue.cache_clear()
        survey_plugins.cache_clear()
        sources.folder_digest.cache_clear()
        request = request_for(["first_entry", "minv"], plugin_files=[path])
        assert request.algorithms == ("crba", "minv", "first_entry")
        return {name: key_of(request, name) for name in request.algorithms}

    path.write_text(source)
    before = keys()
    assert before["minv"].digest == key_of(request_for("minv"), "minv").digest, "being installed changes nothing"
    path.write_text(source + "# edited\n")
    after = keys()
    assert [name for name in before if before[name].digest != after[name].digest] == ["first_entry"]
    assert changed(before["first_entry"], after["first_entry"]) == ["plugins"]


def test_requests_are_closed_and_checked(request_for: Make) -> None:
    assert request_for("minv").algorithms == ("crba", "minv")
    assert request_for(["crba", "minv"]).identity().digest == request_for("minv").identity().digest
    with pytest.raises(OptionError, match="unknown instruction-set level 'x86-64-v9'; did you mean 'x86-64-v"):
        request_for(level="x86-64-v9")
    with pytest.raises(OptionError, match="unknown algorithm or profile 'crab'"):
        request_for("crab")
    with pytest.raises(FileNotFoundError):
        request_for(source=Path("no such file.urdf"))


def test_without_any_plugin(request_for: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DISABLE, ",".join(point.name for point in entry_points(group=GROUP)))
    load_catalogue.cache_clear()
    survey_plugins.cache_clear()
    with pytest.raises(OptionError, match="no plugin provides any algorithm; reinstall grid-rbd"):
        request_for()
