"""The command ``bench``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.markup import escape

from grid_core.plugins.manager import load_catalogue
from grid_rbd.cli.options import BuildFlags, CacheDir, JsonFlag, RobotArgument, Threads, with_build_flags
from grid_rbd.cli.output import count_text, results, table, write_json, write_text
from grid_rbd.examples import find_description
from grid_rbd.measure import time_algorithm
from grid_rbd.registering import load_robot

Batches = Annotated[
    list[int] | None,
    typer.Option("--batch", "-b", min=1, help="Samples per call; may be repeated. Default: 1024.", show_default=False),
]


@dataclass(frozen=True)
class Timing:
    """One measurement, with the name that its line begins with."""

    robot: str
    algorithm: str
    dtype: str
    batch: int
    threads: int
    ns_per_sample: float

    @property
    def line(self) -> str:
        name = f"{self.robot}.{self.algorithm}.{self.dtype}.batch{self.batch}.threads{self.threads}"
        return f"{name}.ns_per_sample {self.ns_per_sample:.2f}"


@with_build_flags
def bench_command(
    robot: RobotArgument,
    flags: BuildFlags,
    batch: Batches = None,
    threads: Threads = 1,
    as_table: Annotated[bool, typer.Option("--table", help="Print a table instead of lines.")] = False,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure the operations of a robot: one line [bold]name.metric value[/] each, so that runs can be compared."""
    timings = _measure(robot, flags, batch or [1024], threads, cache_dir)
    if as_json:
        write_json([asdict(timing) for timing in timings])
    elif as_table:
        _print_table(list(timings))
    else:
        for timing in timings:
            write_text(f"{timing.line}\n")


def _measure(robot: str, flags: BuildFlags, batches: list[int], threads: int, cache_dir: CacheDir) -> Iterator[Timing]:
    description = find_description(robot)
    options = flags.options()
    handle = load_robot(description, cache_dir=cache_dir, threads=threads, **options)
    catalogue = load_catalogue(tuple(str(file.resolve()) for file in options["plugins"]))
    built = handle.capabilities()
    for name in catalogue.closure(catalogue.select(options["algorithm_list"])):
        for batch in batches if built[name]["built"] else ():
            nanoseconds = time_algorithm(handle, catalogue.algorithms[name], batch)
            yield Timing(description.stem, name, handle.dtype, batch, threads, round(nanoseconds, 3))


def _print_table(timings: list[Timing]) -> None:
    batches = list(dict.fromkeys(timing.batch for timing in timings))
    columns = [f"batch {batch}" for batch in batches]
    rows = table("operation", *columns, right=columns)
    for name in dict.fromkeys(timing.algorithm for timing in timings):
        rows.add_row(name, *(f"{t.ns_per_sample:.1f}" for t in timings if t.algorithm == name))
    console = results()
    console.print(rows)
    first = timings[0]
    console.print(
        f"\nnanoseconds per sample, {escape(first.robot)}, {first.dtype}, {count_text(first.threads, 'thread')}",
        style="dim",
    )
