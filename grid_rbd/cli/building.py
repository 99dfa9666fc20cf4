"""Commands that turn a description into something: ``build``, ``generate``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from grid_core.errors import OptionError
from grid_rbd.cli.failures import FAILURE
from grid_rbd.cli.options import (
    BuildFlags,
    CacheDir,
    JsonFlag,
    RegisteredName,
    RobotArgument,
    chosen_name,
    with_build_flags,
)
from grid_rbd.cli.output import bytes_text, count_text, results, table, write_json, write_text
from grid_rbd.examples import find_description
from grid_rbd.header import generate_header
from grid_rbd.inspection import describe_robot
from grid_rbd.reproducing import check_robot
from grid_rbd.sharding import build_from_plan
from grid_rbd.warming import warm_robot
from grid_rbd.whole_file import whole_file
from grid_store import Store, StoreUnavailableError


@with_build_flags
def build_command(
    flags: BuildFlags,
    robot: Annotated[
        str | None, typer.Argument(metavar="ROBOT", help="A URDF file, or the name of an example robot.")
    ] = None,
    name: RegisteredName = None,
    from_plan: Annotated[
        Path | None,
        typer.Option("--from-plan", metavar="FILE", help="What plan --json wrote, in place of ROBOT and its options."),
    ] = None,
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="I/N", help="Build a share of the plan, such as 2/8.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Compile everything again.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compile what is stored once more, and compare; nothing is changed.")
    ] = False,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Build a robot and register it, for [bold]grid_rbd.get_robot(NAME)[/]."""
    if from_plan is not None:
        if (robot, name, force, check, flags) != (None, None, False, False, BuildFlags()):
            raise OptionError("--from-plan builds what the file says; leave ROBOT and the options of builds out")
        _build_from_plan(from_plan, shard, cache_dir, as_json=as_json)
        return
    if robot is None or shard is not None:
        raise OptionError("give ROBOT, or --from-plan FILE, to which --shard belongs")
    description = find_description(robot)
    chosen = chosen_name(name, description)
    if check:
        _check(chosen, description, flags, cache_dir, as_json=as_json)
        return
    _require_store(chosen, cache_dir)
    began = time.perf_counter()
    warm_robot(chosen, description, cache_dir=cache_dir, force_rebuild=force, **flags.options())
    facts = describe_robot(chosen, cache_dir)
    if as_json:
        write_json({**facts, "build_seconds": round(time.perf_counter() - began, 3)})
        return
    size = f"{count_text(len(facts['units']), 'unit')}, {bytes_text(facts['bytes'])}"
    console = results()
    console.print(f"[green]✓[/] [bold]{escape(chosen)}[/]: {size}, {time.perf_counter() - began:.1f} s")
    console.print(f'  robot = grid_rbd.get_robot("{escape(chosen)}")', style="dim", soft_wrap=True)


def _build_from_plan(plan: Path, shard: str | None, cache_dir: Path | None, *, as_json: bool) -> None:
    report = build_from_plan(plan, shard=shard, cache_dir=cache_dir)
    if as_json:
        write_json(report)
        return
    console, name = results(), escape(report["name"])
    console.print(f"{count_text(len(report['built']), 'unit')} of [bold]{name}[/] built", soft_wrap=True)
    if report["registered"]:
        console.print(f"[green]✓[/] [bold]{name}[/] is complete and registered", soft_wrap=True)
    else:
        console.print(f"{count_text(len(report['missing']), 'unit')} left to other shards", style="dim")


def _check(name: str, description: Path, flags: BuildFlags, cache_dir: Path | None, *, as_json: bool) -> None:
    report = check_robot(name, description, cache_dir=cache_dir, **flags.options())
    if as_json:
        write_json(report)
    else:
        units = table("algorithm", "compiled again", "files that differ")
        for unit in report["units"]:
            style = "green" if unit["outcome"] == "same" else "red"
            units.add_row(unit["algorithm"], f"[{style}]{unit['outcome']}", ", ".join(unit["files"]))
        results().print(units)
    if not report["ok"]:
        raise typer.Exit(FAILURE)


def _require_store(name: str, cache_dir: Path | None) -> None:
    """Refuse to build into a temporary place, which would be gone when the command ends."""
    try:
        Store(cache_dir, strict=True).check_writable()
    except StoreUnavailableError as error:
        raise StoreUnavailableError(f"{name!r} would not be kept, so nothing was built: {error}") from error


@with_build_flags
def generate_command(
    robot: RobotArgument,
    flags: BuildFlags,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = Path("grid.hpp"),
    namespace: Annotated[str, typer.Option("--namespace", help="C++ namespace.")] = "grid",
    as_json: JsonFlag = False,
) -> None:
    """Write the C++ header of a robot, for host and CUDA code."""
    to_stdout = str(output) == "-"
    if to_stdout and as_json:
        raise OptionError("--json and '-o -' both claim standard output; give -o a file")
    if not to_stdout:
        with _writing(output):
            _check_output(output)
    text = generate_header(find_description(robot), namespace=namespace, **flags.options())
    if to_stdout:
        write_text(text)
        return
    with _writing(output), whole_file(output) as stream:
        stream.write(text.encode())
    facts: dict[str, Any] = {"path": str(output), "bytes": output.stat().st_size, "namespace": namespace}
    if as_json:
        write_json(facts)
        return
    size = bytes_text(facts["bytes"])
    results().print(f"[green]✓[/] {escape(str(output))}: {size}, namespace {namespace}", soft_wrap=True)


@contextlib.contextmanager
def _writing(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OptionError(f"--output: {output} cannot be written: {error.strerror}; give another file") from error


def _check_output(output: Path) -> None:
    """Refuse what cannot become a file before the work begins."""
    if output.is_dir():
        raise OptionError(f"--output: {output} is a directory, expected a file; give {output / 'grid.hpp'}")
    if not output.parent.is_dir():
        raise OptionError(
            f"--output: {output} cannot be written: {output.parent} is not an existing directory; create it, or give "
            "another file"
        )
