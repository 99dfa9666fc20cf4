"""Commands that turn a description into something: ``plan``, ``build``, ``generate``."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from grid_core.errors import OptionError
from grid_rbd.cli.options import BuildFlags, CacheDir, JsonFlag, RobotArgument, with_build_flags
from grid_rbd.cli.output import bytes_text, count_text, results, table, write_json
from grid_rbd.examples import find_description
from grid_rbd.header import generate_header
from grid_rbd.inspection import describe_robot
from grid_rbd.planning import build_plan
from grid_rbd.warming import warm_robot
from grid_store import Store, StoreUnavailableError

Name = Annotated[
    str | None, typer.Option("--name", "-n", help="Name to register under. Default: the file's.", show_default=False)
]


@with_build_flags
def plan_command(
    robot: RobotArgument, flags: BuildFlags, name: Name = None, cache_dir: CacheDir = None, as_json: JsonFlag = False
) -> None:
    """Show what a build would compile, and why; nothing is generated or compiled."""
    description = find_description(robot)
    report = build_plan(name or description.stem, description, cache_dir=cache_dir, **flags.options())
    if as_json:
        write_json(report)
        return
    units = table("algorithm", "state", "reason")
    for unit in report["units"]:
        hit = unit["status"] == "hit"
        units.add_row(unit["algorithm"], "[green]stored" if hit else "[yellow]to build", unit["reason"])
    missing = sum(unit["status"] == "miss" for unit in report["units"])
    console = results()
    console.print(units)
    identity = report["build_identity"]
    console.print(f"\n{report['name']} in {report['store_dir']}", style="dim", soft_wrap=True)
    compiler = identity["compiler"]
    console.print(f"{compiler['kind']} {compiler['version'].splitlines()[0]}, {identity['level']}", style="dim")
    console.print(f"{count_text(missing, 'unit')} to build" if missing else "everything is stored")


@with_build_flags
def build_command(
    robot: RobotArgument,
    flags: BuildFlags,
    name: Name = None,
    force: Annotated[bool, typer.Option("--force", help="Compile everything again.")] = False,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Build a robot and register it, for [bold]grid_rbd.get_robot(NAME)[/]."""
    description = find_description(robot)
    chosen = name or description.stem
    _require_store(chosen, cache_dir)
    began = time.perf_counter()
    warm_robot(chosen, description, cache_dir=cache_dir, force_rebuild=force, **flags.options())
    facts = describe_robot(chosen, cache_dir)
    if as_json:
        write_json({**facts, "build_seconds": round(time.perf_counter() - began, 3)})
        return
    size = f"{count_text(len(facts['units']), 'unit')}, {bytes_text(facts['bytes'])}"
    console = results()
    console.print(f"[green]✓[/] [bold]{chosen}[/]: {size}, {time.perf_counter() - began:.1f} s")
    console.print(f'  robot = grid_rbd.get_robot("{chosen}")', style="dim", soft_wrap=True)


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
        typer.echo(text, nl=False)
        return
    with _writing(output):
        _write(output, text)
    facts: dict[str, Any] = {"path": str(output), "bytes": output.stat().st_size, "namespace": namespace}
    if as_json:
        write_json(facts)
        return
    results().print(f"[green]✓[/] {output}: {bytes_text(facts['bytes'])}, namespace {namespace}", soft_wrap=True)


@contextlib.contextmanager
def _writing(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OptionError(f"--output: {output} cannot be written: {error.strerror}; give another file") from error


def _write(output: Path, text: str) -> None:
    """Write a file as a whole or not at all; what is there and is no file, such as a pipe, is written to as it is."""
    if output.exists() and not output.is_file():
        output.write_text(text, "utf-8")
        return
    target = output.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(target)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _check_output(output: Path) -> None:
    """Refuse what cannot become a file before the work begins."""
    if output.is_dir():
        raise OptionError(f"--output: {output} is a directory, expected a file; give {output / 'grid.hpp'}")
    if not output.parent.is_dir():
        raise OptionError(
            f"--output: {output} cannot be written: {output.parent} is not an existing directory; create it, or give "
            "another file"
        )
