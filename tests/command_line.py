"""Runs command lines in this process, as the program would: same arguments, same exit codes, separate streams."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from grid_rbd.cli.app import app


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


def run(*arguments: object) -> Ran:
    """Run ``grid-rbd`` with these arguments."""
    with _restored():
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="grid-rbd")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


@contextmanager
def _restored() -> Iterator[None]:
    """Undo what the program does to its process: where warnings and messages go."""
    log, show = logging.getLogger("grid_rbd"), warnings.showwarning
    before = (log.handlers[:], log.propagate, log.level)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            yield
    finally:
        log.handlers[:], log.propagate, level = before
        log.setLevel(level)
        warnings.showwarning = show
