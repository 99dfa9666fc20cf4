"""An edit to one family compiles the units of that family and of what depends on it, and no others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import grid_plugins
from grid_core.plugins.manager import load_catalogue
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import PENDULUM

BUILD = """
import sys
from grid_core.build import BuildOptions, build, make_plan, make_request
from grid_store import Store
request = make_request({urdf!r}, BuildOptions(), compiler={compiler!r})
store = Store({root!r})
plan = make_plan(request, store)
print(*sorted(unit.algorithm for unit in plan.missing))
build(plan, store)
"""


def missing(plugins: Path, stub: Stub, root: Path) -> list[str]:
    """Build all algorithms with the families in a folder; return those that had to be traced."""
    script = BUILD.format(urdf=str(PENDULUM), compiler=stub.command, root=str(root))
    environment = {**os.environ, "PYTHONPATH": str(plugins.parent)}
    run = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment, cwd=plugins.parent
    )
    return run.stdout.split()


@pytest.mark.parametrize("family", ["kinematics"])
def test_an_edit_rebuilds_the_family_and_its_dependants(family: str, stub: Stub, tmp_path: Path) -> None:
    plugins, root = tmp_path / "copy" / "grid_plugins", tmp_path / "store"
    shutil.copytree(Path(grid_plugins.__file__).parent, plugins, ignore=shutil.ignore_patterns("__pycache__"))
    catalogue = load_catalogue()
    units = {
        name
        for name, algorithm in catalogue.algorithms.items()
        if algorithm.emit is not None and not (algorithm.needs or algorithm.opt_in)
    }
    assert missing(plugins, stub, root) == sorted(units)
    assert stub.compiled() == sorted(units)
    assert missing(plugins, stub, root) == []

    for file in (plugins / family).glob("*.py"):  # every summary, which generated code carries as a comment
        file.write_text(re.sub(r'(summary=")', r"\1Edited: ", file.read_text("utf-8")), "utf-8")
    own = {name for name in units if catalogue.algorithms[name].family == family}
    touched = {name for name in units if own & set(catalogue.closure([name]))}
    assert own < touched < units or own == touched < units
    assert missing(plugins, stub, root) == sorted(touched), "what depends on the family is generated again"
    assert set(stub.compiled()) == own, "and what came out the same is not compiled"
