"""``plugins``: what is loaded, what is broken, what is in conflict; checks of one, and the project of a new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from grid_core.plugins.manager import load_catalogue
from grid_core.testing.conformance import CHECKS
from grid_rbd import list_registered

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
    assert ran.code == 1
    assert "is broken: ModuleNotFoundError" in ran.out.splitlines()[-2]
    assert ran.out.splitlines()[-1].endswith("broken.py; mend it, or do not name it")
    listed = run("plugins", "--json", "--plugin", file)
    assert (listed.code, listed.document["broken"][0]["remedy"]) == (1, "mend it, or do not name it")


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


def test_checking_a_plugin(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "second.py"
    file.write_text(SECOND.replace("NAME", "nothing"))
    ran = run("plugins", "check", file)
    assert ran.code == 0
    assert "keeps 8 rules" in ran.out
    document = run("plugins", "check", file, "--json").document
    assert document["ok"]
    checks = [finding["check"] for finding in document["findings"]]
    assert checks == ["loads", "hooks", "names", "requires", "documentation", "templates", "templates", "traces"]


@pytest.mark.parametrize(
    ("source", "found", "advice"),
    [
        ("def f(:", "SyntaxError: invalid syntax (second.py, line 1)", "correct that line"),
        (SECOND.replace("NAME", "crba"), "'crba' is provided by dynamics", "rename the algorithm or its alias"),
        (SECOND.replace("NAME", "neutral"), "every handle has an attribute 'neutral'", "rename the algorithm"),
    ],
)
def test_a_plugin_that_breaks_a_rule(source: str, found: str, advice: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "second.py"
    file.write_text(source)
    ran = run("plugins", "check", file, "--build", "--json")
    assert ran.code == 1
    assert not ran.document["ok"]
    (failed,) = (finding for finding in ran.document["findings"] if finding["status"] == "fail")
    assert found in failed["found"]
    assert advice in failed["advice"]
    shown = run("plugins", "check", file)
    assert (shown.code, shown.out.count("✗")) == (1, 1)
    assert "1 rule broken" in shown.out


def test_checking_with_builds(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "second.py"
    file.write_text(SECOND.replace("NAME", "nothing"))
    before = set(list_registered())
    ran = run("plugins", "check", file, "--build", "--json")
    built = [finding for finding in ran.document["findings"] if "robot" in finding["item"]]
    assert {finding["check"] for finding in built} == {*CHECKS}
    assert {finding["item"] for finding in built} == {"nothing, fixed robot", "nothing, floating robot"}
    assert {finding["status"] for finding in built} <= {"ok", "off"}
    assert ran.code == 0
    assert set(list_registered()) == before


def test_what_is_no_plugin(run: Run, tmp_path: Path) -> None:
    ran = run("plugins", "check", tmp_path / "nowhere.py")
    assert ran.code == 1
    assert "nowhere.py does not exist; give the path of a Python file" in ran.err
    assert run("plugins", "check").code == 2


def test_a_new_project(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("plugins", "new", "toy_power", "--json")
    assert (ran.code, ran.document["folder"]) == (0, str(tmp_path / "toy_power"))
    assert "pyproject.toml" in ran.document["files"]
    assert run("plugins", "check", "toy_power/grid_toy_power.py").code == 0
    again = run("plugins", "new", "toy_power")
    assert again.code == 2
    assert "toy_power exists; give another name, or remove it" in again.err
    assert "NAME is 'Toy', which no algorithm can have" in run("plugins", "new", "Toy").err
    assert "next: cd other_toy; pip install -e '.[test]'; python -m pytest" in run("plugins", "new", "other_toy").out
