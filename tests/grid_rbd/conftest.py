"""Registrations in a store of their own: with the counting compiler, or with the real one where numbers matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from grid_core.toolchains import CxxCompiler, find_compiler
from tests.grid_core.build.conftest import stub, stub_command  # noqa: F401 - fixtures


@pytest.fixture(scope="session")
def cxx() -> CxxCompiler:
    return find_compiler()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Root of an empty store."""
    return tmp_path / "store"


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave no compiler to be found, and let a test fail that starts any program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr("subprocess.Popen", lambda *a, **k: pytest.fail("a program was started"))
