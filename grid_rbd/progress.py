"""Progress of builds: a bar on a terminal, log lines elsewhere. Standard output is never written to."""

from __future__ import annotations

import itertools
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from grid_core.build import Event, Progress
from grid_core.errors import OptionError

QUIET = "GRID_RBD_QUIET"
"""Environment variable: set to 1 to show no bar."""

_log = logging.getLogger("grid_rbd.build")


def on_terminal() -> bool:
    """Return whether somebody sees a bar."""
    return not is_quiet() and sys.stderr.isatty()


def is_quiet() -> bool:
    """Return what ``GRID_RBD_QUIET`` asks for.

    Raises
    ------
    OptionError
        It is neither 0 nor 1.
    """
    text = os.environ.get(QUIET, "")
    if text not in ("", "0", "1"):
        raise OptionError(f"environment variable {QUIET} is {text!r}; set it to 1 to show no bar, to 0, or unset it")
    return text == "1"


@contextmanager
def shown_progress(units: int, name: str) -> Iterator[Progress | None]:
    """Report on units while they are being built; yield what to tell, ``None`` if there is nothing to build."""
    if units == 0:
        yield None
    elif on_terminal():
        with _bar(units, name) as report:
            yield report
    else:
        yield _writer(name)


def _writer(name: str) -> Progress:
    finished = itertools.count(1)

    def report(event: Event) -> None:
        if event.phase == "done":
            done = f"{next(finished)}/{event.total} {event.algorithm}, {event.seconds:.1f} s"
            _log.info("building %s: %s%s", name, done, "" if event.compiled else ", its code was there already")

    return report


@contextmanager
def _bar(units: int, name: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("building [bold]{task.fields[robot]}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True, emoji=False), transient=True) as bar:
        task = bar.add_task("", total=units, robot=escape(name))
        running: dict[str, None] = {}

        def report(event: Event) -> None:
            if event.phase == "start":
                running[event.algorithm] = None
            else:
                running.pop(event.algorithm, None)
                bar.advance(task)
            bar.update(task, description=", ".join(list(running)[:4]))

        yield report
