"""The command line, and the robot that most commands are tried on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import command_line
from tests.grid_store.conftest import mount  # noqa: F401 - a fixture

Run = Callable[..., command_line.Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "100")
    return command_line.run


@pytest.fixture
def pendulum() -> Path:
    return Path(__file__).parents[2] / "golden" / "double_pendulum_continuous.urdf"
