"""A compiler, and the small robot that most tests of code generation and builds are about."""

from __future__ import annotations

import pytest

from grid_core.model import Model, load_model
from grid_core.toolchains import CxxCompiler, find_compiler
from tests.grid_core.units import PENDULUM


@pytest.fixture(scope="session")
def cxx() -> CxxCompiler:
    return find_compiler()


@pytest.fixture(scope="session")
def pendulum() -> Model:
    return load_model(PENDULUM)
