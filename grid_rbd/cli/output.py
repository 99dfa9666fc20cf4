"""What commands print: tables and text or one JSON document on standard output, all else on standard error."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, TextIO

from rich.box import Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

PROGRESS = "grid_rbd.build"
"""The logger that says how builds get on."""

RULES = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
"""A line below the header and nothing else."""


class ResultsLostError(OSError):
    """Standard output takes no more."""


class _Results(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        with written_out():
            super().print(*objects, **options)


def results() -> Console:
    """Return the console of standard output; not made once for all, since tests replace the stream."""
    return _Results(highlight=False, emoji=False)


def errors() -> Console:
    """Return the console of standard error."""
    return Console(stderr=True, highlight=False, emoji=False)


def replace_unencodable() -> None:
    """Let the standard streams write ``?`` for what their encoding lacks, instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")


@contextmanager
def written_out() -> Iterator[None]:
    """Write out what the block prints on standard output.

    A reader that has gone, as ``head`` does, ends the program.

    Raises
    ------
    ResultsLostError
        Standard output is closed or cannot be written; nothing more is written to it.
    """
    if sys.stdout is None:
        raise ResultsLostError("standard output is closed")
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise SystemExit(1) from None
        raise ResultsLostError(f"standard output cannot be written: {error.strerror}") from error


def write_json(document: Any) -> None:
    """Print one JSON document."""
    write_text(json.dumps(document, indent=2) + "\n")


def write_text(text: str) -> None:
    """Print text as it is."""
    with written_out():
        sys.stdout.write(text)


def table(*columns: str, right: Iterable[str] = ()) -> Table:
    """Return an empty table; the columns in ``right`` hold numbers, and what is too long continues on the next line."""
    made = Table(box=RULES, show_edge=False, pad_edge=False, header_style="bold", border_style="dim")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


def bytes_text(size: int) -> str:
    """Return a size as people read it."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def seconds_text(seconds: float) -> str:
    """Return a duration as people read it."""
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.1f} s"


def count_text(number: int, one: str, many: str = "") -> str:
    """Return ``"1 robot"`` or ``"2 robots"``."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def send_messages_to_stderr(*, quiet: bool = False) -> None:
    """Show warnings and log lines of the project as single lines on standard error.

    Parameters
    ----------
    quiet : bool
        Leave out progress.
    """
    handler = _Lines()
    log = logging.getLogger("grid_rbd")
    log.handlers[:] = [handler]
    log.setLevel(logging.WARNING if quiet else logging.INFO)
    log.propagate = False
    warnings.showwarning = _show_warning


class _Lines(logging.Handler):
    """One line per record: warnings of anyone, and the progress of builds."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or record.name == PROGRESS

    def emit(self, record: logging.LogRecord) -> None:
        serious = record.levelno >= logging.WARNING
        _line("warning: " if serious else "", record.getMessage(), "yellow" if serious else "dim")


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int,
    file: TextIO | None = None, line: str | None = None,
) -> None:  # fmt: skip
    del category, filename, lineno, file, line
    _line("warning: ", str(message), "yellow")


def _line(label: str, text: str, style: str) -> None:
    body = Text(label, style=style).append(text, style="not dim" if label else "dim")
    errors().print(body, soft_wrap=True)
