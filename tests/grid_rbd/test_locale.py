"""Numbers do not depend on the locale: descriptions, emitted code and results where decimals have a comma."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracle.robots import GOLDEN

LOCALE = """comment_char %
escape_char /
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
"""
CHARACTERS = """<code_set_name> ANSI_X3.4-1968
<comment_char> %
<escape_char> /
CHARMAP
<U0000>..<U007F> /x00 ASCII
END CHARMAP
"""
SCRIPT = """
import hashlib, locale, sys, warnings
import grid_rbd
from grid_core.codegen.render import render_unit
from grid_core.errors import URDFParseError
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model, load_model
from grid_core.plugins.manager import load_catalogue

warnings.simplefilter("ignore")
locale.setlocale(locale.LC_ALL, "")
print(locale.format_string("%.1f", 1.5))
path, store = sys.argv[1:]
model = load_model(path)
assert Model.from_json(model.to_json()).to_json() == model.to_json()
print(model.to_json())
algorithms = load_catalogue().algorithms
for dtype in ("float64", "float32"):
    source = render_unit(algorithms["inverse_dynamics_gradient"], model, algorithms, TraceSettings(), dtype)
    print(hashlib.sha256(source.encode()).hexdigest())
robot = grid_rbd.load_robot(path, algorithm_list="crba", cache_dir=store)
print(robot.crba(model.random(1, 1)).tobytes().hex())
try:
    load_model('<robot name="r"><link name="a"><inertial><mass value="1,5"/></inertial></link></robot>')
except URDFParseError as error:
    print(error)
"""


@pytest.fixture
def comma(tmp_path: Path) -> dict[str, str]:
    """Variables of a locale of our own; compiling it needs neither definitions nor character maps of the system."""
    if shutil.which("localedef") is None:
        pytest.skip("no localedef (it comes with the GNU C library) to compile a locale with")
    source, characters, made = tmp_path / "source", tmp_path / "characters", tmp_path / "locales" / "comma"
    source.write_text(LOCALE, "ascii")
    characters.write_text(CHARACTERS, "ascii")
    made.parent.mkdir()
    command = ["localedef", "--force", "--inputfile", source, "--charmap", characters, made]
    subprocess.run(command, capture_output=True, check=False)  # it warns of the categories that are not defined
    assert (made / "LC_NUMERIC").exists()
    return {"LOCPATH": str(made.parent), "LC_ALL": made.name}


def run(store: Path, **variables: str) -> list[str]:
    arguments = [sys.executable, "-c", SCRIPT, str(GOLDEN["double_pendulum_continuous"].urdf), str(store)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


def test_the_locale_changes_no_number(comma: dict[str, str], tmp_path: Path) -> None:
    (separated, *here), (usual, *there) = run(tmp_path / "store", **comma), run(tmp_path / "store", LC_ALL="C")
    assert (separated, usual) == ("1,5", "1.5")
    assert here == there
    assert "decimal point" in here[-1]
