"""Runs command lines in this process, as the program would: same arguments, same exit codes, separate streams."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from grid_rbd.cli.app import app

PENDULUM = Path(__file__).parents[2] / "golden" / "double_pendulum_continuous.urdf"


@dataclass(frozen=True)
class Ran:
    """What a command line left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command line sets its own
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: object) -> Ran:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="grid-rbd")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    yield call
    log = logging.getLogger("grid_rbd")
    log.handlers.clear()
    log.propagate = True
    log.setLevel(logging.NOTSET)


@pytest.fixture
def pendulum() -> Path:
    return PENDULUM
