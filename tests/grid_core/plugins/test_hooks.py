"""Every hook is asked for when plugins are loaded, and what it answers arrives where it is used."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import grid_plugins
import grid_rbd
from grid_core.plugins import hookspecs
from grid_core.plugins.asking import empty_manager
from grid_core.plugins.manager import load_catalogue
from tests.grid_core.units import PENDULUM

HOOKS = [name for name, value in vars(hookspecs).items() if hasattr(value, f"{hookspecs.PROJECT}_spec")]

SOURCE = """
import json
from pathlib import Path
from grid_core.plugins import Algorithm, HeaderSection, Input, Output, hookimpl

HERE = Path(__file__).parent

def called(hook):
    with (HERE / "calls").open("a") as file:
        file.write(json.dumps(hook) + "\\n")

def emit(k):
    k.output("y", k.input("q")[0])

@hookimpl
def grid_algorithms():
    called("grid_algorithms")
    q, y = Input("q", ("nq",), "configuration"), Output("y", (), "a number")
    return [Algorithm("hooked", "toys", "A toy.", (q,), (y,), emit)]

@hookimpl
def grid_template_folders():
    called("grid_template_folders")
    return [HERE]

@hookimpl
def grid_header_sections():
    called("grid_header_sections")
    return [HeaderSection("hooked.hpp.j2", ("hooked",), lambda contents: {"answer": 42})]
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    file = tmp_path / "hooked_plugin.py"
    file.write_text(SOURCE)
    (tmp_path / "hooked.hpp.j2").write_text("// the answer is {{ answer }}\n")
    return file


def test_every_hook_is_asked_for(plugin: Path) -> None:
    load_catalogue((str(plugin),))
    assert {json.loads(line) for line in (plugin.parent / "calls").read_text().splitlines()} == {*HOOKS}


def in_a_robot(plugin: Path) -> bool:
    options: dict[str, Any] = {"plugins": [plugin], "device": "reference", "dtype": "float64"}
    robot = grid_rbd.load_robot(PENDULUM, algorithm_list="hooked", **options)
    return bool(robot.hooked([0.5, 0.0]) == 0.5)


def in_the_catalogue(plugin: Path) -> bool:
    return load_catalogue((str(plugin),)).template_folders(["hooked"]) == (str(plugin.parent),)


def in_the_header(plugin: Path) -> bool:
    text = grid_rbd.generate_header(PENDULUM, algorithm_list="hooked", plugins=[plugin])
    return "// the answer is 42" in text


ARRIVES: dict[str, Callable[[Path], bool]] = {
    "grid_algorithms": in_a_robot,
    "grid_template_folders": in_the_catalogue,
    "grid_header_sections": in_the_header,
}


@pytest.mark.parametrize("hook", HOOKS)
def test_what_a_hook_answers_arrives(hook: str, plugin: Path) -> None:
    assert ARRIVES[hook](plugin)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_bundled_family_implements_each_hook(hook: str) -> None:
    manager = empty_manager()
    for family in pkgutil.iter_modules(grid_plugins.__path__):
        manager.register(import_module(f"grid_plugins.{family.name}"), family.name)
    assert getattr(manager.hook, hook).get_hookimpls()


def test_every_hook_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text("utf-8")
    assert all(f"`{hook}`" in page or f"def {hook}(" in page for hook in HOOKS)
    assert all(vars(hookspecs)[hook].__doc__ for hook in HOOKS)
