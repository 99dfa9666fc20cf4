"""Emitted C++ under the address and undefined-behaviour sanitizers, over ragged batches in exact buffers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grid_core.codegen.render import RUNTIME, render_unit
from grid_core.errors import ToolchainError
from grid_core.kernel.settings import TraceSettings
from grid_core.toolchains import CxxCompiler, detect_level, find_compiler, machine_supports
from grid_core.toolchains.levels import level_flags
from tests.oracle.evaluation import algorithms, dynamics
from tests.oracle.robots import GOLDEN

pytestmark = pytest.mark.sanitize

DRIVER = Path(__file__).with_name("ragged.cpp")
FLAGS = ("-std=c++17", "-O1", "-g1", "-ffp-contract=fast")
SANITIZERS = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
LEVELS = {"best": None, "x86-64-v2": "x86-64-v2", "x86-64-v3": "x86-64-v3"}
EVERY_LEVEL = ("inverse_dynamics", "crba")
"""Masked instructions of the best level are not instrumented; the others show what is read and written."""

SETTINGS = {
    "plain": TraceSettings(),
    "friction": TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=0.1),
}
CASES = [
    pytest.param(robot, name, level, kind, id=f"{robot}-{name}-{level}-{kind}")
    for robot in GOLDEN
    for name in dynamics()
    for level in (LEVELS if name in EVERY_LEVEL or robot == "double_pendulum_continuous" else ["best"])
    for kind in (SETTINGS if robot == "iiwa14" and name.startswith(("inverse", "forward")) else ["plain"])
]


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> CxxCompiler:
    """A compiler with sanitizers, whose programs run here."""
    try:
        found = find_compiler()
    except ToolchainError as error:
        pytest.skip(f"no C++ compiler: {error}")
    folder = tmp_path_factory.mktemp("probe")
    source = folder / "probe.cpp"
    source.write_text("int main() { return 0; }\n", "utf-8")
    command = [*found.command, *SANITIZERS, str(source), "-o", str(folder / "probe")]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("the compiler has no sanitizers")
    return found


@pytest.fixture(scope="module")
def driver(compiler: CxxCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("driver") / "ragged.o"
    compile_(compiler, "-c", DRIVER, "-o", built)
    return built


def compile_(compiler: CxxCompiler, *arguments: str | Path) -> None:
    command = [*compiler.command, *FLAGS, *SANITIZERS, f"-I{RUNTIME}", *map(str, arguments)]
    made = subprocess.run(command, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-3000:]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("robot", "name", "level", "kind"), CASES)
def test_clean(
    robot: str, name: str, level: str, kind: str, dtype: str, compiler: CxxCompiler, driver: Path, tmp_path: Path
) -> None:
    target = LEVELS[level] or detect_level()
    if not machine_supports(target):
        pytest.skip(f"this machine does not run {target}")
    text = render_unit(algorithms()[name], GOLDEN[robot].model(), algorithms(), SETTINGS[kind], dtype)
    unit = tmp_path / "unit.cpp"
    unit.write_text(text, "utf-8")
    program = tmp_path / "program"
    compile_(compiler, *level_flags(target), unit, driver, "-o", program)
    ran = subprocess.run([program], check=False, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr[-3000:]
