"""``plugins``: what is loaded, what is broken, what is in conflict."""

from __future__ import annotations

from pathlib import Path

from grid_core.plugins.manager import load_catalogue

from .conftest import Run

SECOND = """
from grid_core.plugins import Algorithm, Input, Output, hookimpl

@hookimpl
def grid_algorithms():
    q = Input("q", ("nq",), "configuration", tangent="configuration")
    y = Output("y", (), "zero")
    return [Algorithm("NAME", "second", "Twice nothing.", (q,), (y,), lambda k: k.output("y", 0.0))]
"""


def test_installed_plugins(run: Run) -> None:
    catalogue = load_catalogue()
    ran = run("plugins")
    assert ran.code == 0
    assert all(name in ran.out for name in catalogue.names)
    document = run("plugins", "--json").document
    listed = [algorithm["name"] for plugin in document["plugins"] for algorithm in plugin["algorithms"]]
    assert sorted(listed) == sorted(catalogue.algorithms)
    assert document["profiles"]["all"] == [name for name, a in catalogue.algorithms.items() if not a.opt_in]
    assert document["broken"] == []


def test_a_plugin_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "second.py"
    file.write_text(SECOND.replace("NAME", "nothing"))
    ran = run("plugins", "--plugin", file)
    assert "nothing" in ran.out
    assert str(file) in ran.out.replace("\n", "")


def test_a_broken_plugin(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module")
    ran = run("plugins", "--plugin", file)
    assert ran.code == 0
    assert "is broken: ModuleNotFoundError" in ran.out
    assert "GRID_RBD_DISABLE_PLUGINS=broken" in ran.out
    document = run("plugins", "--json", "--plugin", file).document
    assert document["broken"][0]["disable"] == "GRID_RBD_DISABLE_PLUGINS=broken"


def test_a_name_that_handles_use(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "second.py"
    file.write_text(SECOND.replace("NAME", "neutral"))
    (broken,) = run("plugins", "--json", "--plugin", file).document["broken"]
    assert "every handle has an attribute 'neutral'" in broken["reason"]


def test_two_providers_of_one_name(run: Run, tmp_path: Path) -> None:
    taken = next(iter(load_catalogue().algorithms))
    file = tmp_path / "second.py"
    file.write_text(SECOND.replace("NAME", taken))
    ran = run("plugins", "--plugin", file)
    assert ran.code == 1
    assert "provided twice" in ran.err
