"""The command ``tune``."""

from __future__ import annotations

from typing import Annotated

import typer

from grid_rbd.cli.options import Algorithms, CacheDir, JsonFlag, NameArgument, algorithm_list
from grid_rbd.cli.output import results, table, write_json
from grid_rbd.tuning import BATCHES, Tuning, tune_robot

Batches = Annotated[
    list[int] | None,
    typer.Option(
        "--batch", "-b", min=1, help=f"Samples per call; may be repeated. Default: {BATCHES}.", show_default=False
    ),
]


def tune_command(
    name: NameArgument,
    algorithms: Algorithms = None,
    batch: Batches = None,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure the launch shapes of a robot of this GPU; later handles choose by what is found."""
    chosen = algorithm_list(algorithms)
    tunings = tune_robot(name, cache_dir, algorithm_list=chosen, batch_sizes=tuple(batch or BATCHES))
    if as_json:
        write_json([{"algorithm": t.algorithm, "profile": t.profile, "seconds": t.seconds} for t in tunings])
        return
    for tuning in tunings:
        _print(tuning)


def _print(tuning: Tuning) -> None:
    """Print microseconds by shape and batch size, the fastest of each size marked."""
    batches = list(tuning.seconds)
    rows = table(tuning.algorithm, *map(str, batches), right=list(map(str, batches)))
    for shape in next(iter(tuning.seconds.values()), {}):
        rows.add_row(shape, *(_cell(tuning, batch, shape) for batch in batches))
    results().print(rows)


def _cell(tuning: Tuning, batch: int, shape: str) -> str:
    times = tuning.seconds[batch]
    text = f"{times[shape] * 1e6:.1f}"
    return f"[green]{text}[/]" if times[shape] == min(times.values()) else text
