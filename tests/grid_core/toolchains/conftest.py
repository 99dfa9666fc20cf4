"""Shared by the toolchain tests: the machine's compiler, small sources, and stubs that misbehave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grid_core.errors import ToolchainError
from grid_core.toolchains import CxxCompiler, find_compiler, search

SOURCE = 'extern "C" __attribute__((visibility("default"))) int answer() { return 42; }\n'


@pytest.fixture(autouse=True)
def _no_memory_of_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_working", {})
    monkeypatch.delenv("CXX", raising=False)


@pytest.fixture(scope="session")
def compiler() -> CxxCompiler:
    try:
        return find_compiler()
    except ToolchainError as error:
        pytest.skip(f"no C++ compiler: {error}")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "unit.cpp"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], Path]:
    """Return a function that writes an executable shell script ``name`` into the folder ``tmp_path/bin``."""

    def write(name: str, body: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def stub(script: Callable[[str, str], Path]) -> Callable[[str], CxxCompiler]:
    """Return a function that makes a compiler whose command is a shell script with this body."""

    def make(body: str) -> CxxCompiler:
        return CxxCompiler((str(script("stub", body)),), version="stub", target="none", stamp="")

    return make
