"""The command ``try``: the first thing to do after installing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from grid_core.toolchains import detect_level, find_compiler
from grid_core.version import __version__
from grid_rbd.cli.failures import FAILURE
from grid_rbd.cli.options import CacheDir, FloatingBase, JsonFlag, Plugins, algorithm_list, algorithms_option
from grid_rbd.cli.output import count_text, errors, results, table, write_json
from grid_rbd.examples import find_description
from grid_rbd.progress import on_terminal
from grid_rbd.trial import TOLERANCES, TRIED, Operation, Trial, try_robot


def try_command(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A URDF file, or the name of an example.")] = "arm7",
    batch: Annotated[int, typer.Option("--batch", "-b", min=1, help="Samples per call.")] = 1024,
    floating_base: FloatingBase = False,
    algorithms: Annotated[list[str] | None, algorithms_option(f"{TRIED}; all takes minutes")] = None,
    plugins: Plugins = None,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Build a robot that ships with grid-rbd, measure its operations, and compare with the reference evaluation."""
    description = find_description(robot)
    with _progress() as on_operation:
        trial = try_robot(
            description,
            batch=batch,
            floating_base=floating_base,
            algorithms=algorithm_list(algorithms) or TRIED,
            cache_dir=cache_dir,
            plugins=tuple(plugins or ()),
            on_operation=on_operation,
        )
    if as_json:
        write_json(_document(trial, description))
    else:
        results().print(page(trial, robot))
    if not trial.agrees:
        raise typer.Exit(FAILURE)


@contextmanager
def _progress() -> Iterator[Any]:
    if not on_terminal():
        yield None
        return
    with errors().status("") as status:
        status.stop()

        def report(algorithm: str, number: int, total: int) -> None:
            status.start()
            status.update(f"measuring {number}/{total} [dim]{algorithm}")

        yield report


def _document(trial: Trial, description: Path) -> dict[str, Any]:
    return {
        "version": __version__,
        "robot": str(description),
        "batch": trial.batch,
        "threads": 1,
        "level": detect_level(),
        "operations": [{**asdict(found), "agrees": found.agrees} for found in trial.operations],
        "tolerances": TOLERANCES,
        "agrees": trial.agrees,
        "build_seconds": round(trial.build_seconds, 3),
        "measure_seconds": round(trial.measure_seconds, 3),
    }


def page(trial: Trial, robot: str) -> Group:
    """Return what is printed about a trial."""
    handle, compiler = trial.robot, find_compiler()
    joints, base = count_text(len(handle.joint_names), "joint"), "floating" if handle.floating_base else "fixed"
    return Group(
        f"\n[bold]{escape(Path(robot).stem)}[/]  {joints}, {base} base, nv {handle.nv}",
        f"[dim]grid-rbd {__version__}, {escape(compiler.version.splitlines()[0])}, {detect_level()}\n",
        _table(trial),
        f"\n[dim]ns: nanoseconds per sample, one thread, batch {trial.batch}"
        "\nerror: difference from the reference evaluation, relative to the largest entry\n",
        _verdict(trial),
        f"[dim]built in {trial.build_seconds:.1f} s, measured in {trial.measure_seconds:.1f} s\n",
        f'next: robot = grid_rbd.load_robot("{escape(robot) if robot.endswith(".urdf") else "your_robot.urdf"}")',
    )


def _table(trial: Trial) -> Table:
    columns = [f"{dtype if what == 'ns' else ''}\n{what}" for dtype in TOLERANCES for what in ("ns", "error")]
    rows = table("\noperation", *columns, right=columns)
    for name in dict.fromkeys(found.algorithm for found in trial.operations):
        cells = [cell for found in trial.operations if found.algorithm == name for cell in _cells(found)]
        rows.add_row(name, *cells)
    return rows


def _cells(found: Operation) -> tuple[str, str]:
    return f"[cyan]{found.nanoseconds:.1f}", f"[{'green' if found.agrees else 'bold red'}]{found.error:.0e}"


def _verdict(trial: Trial) -> str:
    wrong = [f"{found.algorithm} in {found.dtype}" for found in trial.operations if not found.agrees]
    if wrong:
        return f"[bold red]✗[/] wrong: {', '.join(wrong)}"
    limits = ", ".join(f"{dtype} {limit:.0e}" for dtype, limit in TOLERANCES.items())
    count = len({found.algorithm for found in trial.operations})
    agree = count_text(count, "operation agrees", "operations agree")
    return f"[green]✓[/] {agree} with the reference (limits: {limits})"
