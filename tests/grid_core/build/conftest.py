"""Builds in a store of their own with a compiler that counts: it probes like the real one and delivers ready units."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grid_core.build import BuildOptions, RobotRequest, make_request
from grid_core.plugins.manager import load_catalogue, survey_plugins
from grid_core.toolchains import CxxCompiler, search
from grid_store import Store
from tests.grid_core.units import PENDULUM

STUB = """#!/bin/sh
case "$*" in *--version*|*-dumpmachine*|*probe*) exec {compiler} "$@";; esac
echo "$(basename "$PWD")" >> "$STUB_LOG"
case "$STUB_MODE" in
    slow) sleep 0.5;;
    fail) echo "unit.cpp:3: error: no such luck" >&2; exit 1;;
    killed) kill -9 $$;;
    empty) exit 0;;
esac
while [ "$1" != -o ]; do shift; done
case "$STUB_MODE" in
    garbage) echo "not a library" > "$2";;
    foreign) cp {folder}/foreign.so "$2";;
    other) cp {folder}/other.so "$2";;
    *) cp {folder}/unit.so "$2";;
esac
"""


UNIT = "grid_unit_table"


@dataclass
class Stub:
    """A compiler command and the units that it was asked for, by algorithm."""

    command: str
    log: Path
    seen: int = field(default=0)

    def compiled(self) -> list[str]:
        """Return the algorithms compiled since the last question, sorted."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        new, self.seen = lines[self.seen :], len(lines)
        return sorted(line.removeprefix("grid-rbd-").rpartition("-")[0] for line in new)


@pytest.fixture(scope="session")
def stub_command(cxx: CxxCompiler, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("stub")
    for name, symbol, result in (("unit", UNIT, 0), ("foreign", "something_else", 0), ("other", UNIT, 1)):
        source = folder / f"{name}.c"
        source.write_text(f"int {symbol}(void) {{ return {result}; }}\n")
        build = [str(cxx.path), "-x", "c", "-shared", "-fPIC", str(source), "-o", str(folder / f"{name}.so")]
        subprocess.run(build, check=True)
    script = folder / "counting-cxx"
    script.write_text(STUB.format(compiler=cxx.path, folder=folder))
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def stub(stub_command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stub:
    log = tmp_path / "compiled"
    monkeypatch.setenv("STUB_LOG", str(log))
    monkeypatch.setenv("STUB_MODE", "")
    monkeypatch.delenv("CXX", raising=False)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    return Stub(stub_command, log)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", strict=True)


@pytest.fixture
def request_for(stub: Stub) -> Callable[..., RobotRequest]:
    def make(algorithms: Any = "crba", options: BuildOptions | None = None, **target: Any) -> RobotRequest:
        target = {"compiler": stub.command, **target}
        return make_request(
            target.pop("source", PENDULUM), options or BuildOptions(), algorithm_list=algorithms, **target
        )

    return make


@pytest.fixture(autouse=True)
def _processes_start_afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what a process remembers of compilers, so that a test sees what a new process would do."""
    monkeypatch.setattr(search, "_working", dict(search._working))
    yield
    load_catalogue.cache_clear()
    survey_plugins.cache_clear()
