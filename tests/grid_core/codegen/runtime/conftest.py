"""Compiled drivers of the runtime headers, one for each compiler and instruction-set level that this machine has."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from grid_core.toolchains.levels import level_flags, machine_supports

HERE = Path(__file__).parent
HEADERS = Path(__file__).parents[4] / "grid_core" / "codegen" / "runtime"
ARITHMETIC = ("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
FLAGS = ("-std=c++17", "-O2", *ARITHMETIC, "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}")
SANITIZERS = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""Optimised less than what is used: g++ then compiles a driver in a third of the time."""
LEVELS = ("armv8",) if machine_supports("armv8") else ("x86-64-v4", "x86-64-v3", "x86-64-v2")
BUILDS = [(compiler, level) for level in LEVELS for compiler in ("g++", "clang++")]

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def compile_driver(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a cached ``compile(source name, compiler, level, *options) -> executable``."""
    folder = tmp_path_factory.mktemp("drivers")

    @cache
    def compile_once(source: str, compiler: str, level: str, *options: str) -> Path:
        output = folder / "-".join([source, compiler, level, *options]).replace("=", "-")
        command = [compiler, *FLAGS, *level_flags(level), *options, str(HERE / source), "-o", str(output)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return output

    return compile_once


@pytest.fixture(scope="session", params=BUILDS, ids="-".join)
def build(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A (compiler, level) that is installed and runs here."""
    compiler, level = request.param
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if not machine_supports(level):
        pytest.skip(f"this machine does not run {level}")
    return compiler, level


def run(driver: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Standard output of a driver; what it printed on failure is in the assertion."""
    done = subprocess.run([str(driver), *arguments], check=False, input=stdin, capture_output=True, timeout=120)
    assert done.returncode == 0, (done.stdout[-2000:] + done.stderr[-4000:]).decode(errors="replace")
    return done.stdout
