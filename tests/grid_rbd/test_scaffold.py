"""``plugins new``: the project passes its own tests as generated, and bad names are refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grid_core.errors import OptionError
from grid_rbd.scaffold import new_plugin
from tests.examples.installed import install, run_tests


def test_the_project_passes_its_own_tests_once_it_is_installed(tmp_path: Path) -> None:
    project = new_plugin("toy_power", tmp_path)
    environment = install(project, tmp_path / "installed")
    said = run_tests(project, environment, ["-k", "not cuda"])
    assert re.search(r"\d+ passed", said), said
    program = "from grid_core.plugins.manager import load_catalogue as l; print(l().providers['toy_power'])"
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "toy_power 0.1 (package grid-toy-power)"


def test_the_project_passes_its_own_tests_before(tmp_path: Path) -> None:
    project = new_plugin("toy_power", tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert re.search(r"[1-9]\d* passed", run_tests(project, environment, ["-k", "fixed and not cuda"]))


def test_its_tests_notice_a_wrong_algorithm(tmp_path: Path) -> None:
    project = new_plugin("toy_power", tmp_path)
    module = project / "grid_toy_power.py"
    module.write_text(module.read_text().replace("sum(force * rate", "sum(1.001 * force * rate"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with pytest.raises(AssertionError, match="2 failed"):
        run_tests(project, environment, ["-k", "test_values"])


def test_its_files(tmp_path: Path) -> None:
    project = new_plugin("toy_power", tmp_path)
    assert {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()} == {
        "README.md", "grid_toy_power.py", "pyproject.toml", "tests/test_grid_toy_power.py"
    }  # fmt: skip
    assert "{" not in (project / "README.md").read_text()


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("Toy", "which no algorithm can have; use lower case"),
        ("toy-power", "which no algorithm can have; use lower case"),
        ("../toy", "which no algorithm can have; use lower case"),
        ("class", "which no algorithm can have; use lower case"),
        ("", "which no algorithm can have; use lower case"),
        ("neutral", "which is an attribute of every handle; choose another one"),
        ("rnea", r"which is an algorithm of dynamics .*; choose another one"),
        ("dynamics", "which is an installed plugin; choose another one"),
        ("rbd", ""),
    ],
)
def test_names(name: str, rule: str, tmp_path: Path) -> None:
    if name == "rbd":
        (tmp_path / "grid_rbd").mkdir()
        rule = "but there is a module grid_rbd already; choose another one"
    with pytest.raises(OptionError, match=f"name is '{re.escape(name)}', {rule}"):
        new_plugin(name, tmp_path)
    with pytest.raises(OptionError, match="name is 3, expected the name of the plugin"):
        new_plugin(3, tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "rule"), [("toy_power", "Not a directory"), ("toy" * 100, "File name too long")])
def test_a_folder_that_cannot_be_written(tmp_path: Path, name: str, rule: str) -> None:
    parent = tmp_path / "file" if rule == "Not a directory" else tmp_path
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match=rf"cannot be written to '.*: {rule}; change to another folder, or give"):
        new_plugin(name, parent)


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "toy_power").mkdir()
    with pytest.raises(OptionError, match="toy_power exists; give another name, or remove it"):
        new_plugin("toy_power", tmp_path)
    assert not list((tmp_path / "toy_power").iterdir())
