"""A progress display for builds, on a terminal only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from grid_core.build import Event, Progress

QUIET = "GRID_RBD_QUIET"
"""Environment variable: set to 1 to show nothing."""


@contextmanager
def shown_progress(units: int, name: str) -> Iterator[Progress | None]:
    """Show a bar while units are being built; yield what to report to, ``None`` if nobody watches."""
    if units == 0 or not sys.stderr.isatty() or os.environ.get(QUIET, "0") not in ("", "0"):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"building {name}", total=units)

        def report(event: Event) -> None:
            if event.phase == "start":
                bar.update(task, description=f"building {name}: {event.algorithm}")
            else:
                bar.advance(task)

        yield report
