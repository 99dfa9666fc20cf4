"""Commands that say what a build would do: ``plan``, ``explain``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from grid_core.errors import OptionError
from grid_core.toolchains.toolchain import compiler_text
from grid_rbd.cli.options import BuildFlags, CacheDir, JsonFlag, RegisteredName, chosen_name, with_build_flags
from grid_rbd.cli.output import bytes_text, count_text, results, seconds_text, table, write_json
from grid_rbd.examples import example_robots, find_description
from grid_rbd.explaining import explain_plan
from grid_rbd.maintenance import list_registered
from grid_rbd.planning import build_plan

Robot = Annotated[str, typer.Argument(metavar="ROBOT", help="A URDF file, an example, or a registered robot.")]
STATES = {"hit": "[green]stored", "stale": "[yellow]stale", "miss": "[yellow]to build"}
INTERPRETED = "nothing is compiled for device='reference'"
IN_TIER = "[cyan]in a tier"


@with_build_flags
def plan_command(
    robot: Robot, flags: BuildFlags, name: RegisteredName = None, cache_dir: CacheDir = None, as_json: JsonFlag = False
) -> None:
    """Show what a build would compile, why, and what that is expected to take; nothing is generated or compiled.

    Tiers are asked what they have.
    """
    report = _report(robot, flags, name, cache_dir)
    if as_json:
        write_json(report)
        return
    units = table("algorithm", "state", "expected", "reason", right=["expected"])
    for unit in report["units"]:
        state = IN_TIER if unit["tier"] else STATES[unit["status"]]
        units.add_row(unit["algorithm"], state, _expected(unit["expected"]), unit["reason"])
    console = results()
    if not report["units"]:
        console.print(INTERPRETED)
        return
    console.print(units)
    identity = report["build_identity"]
    console.print(f"\n{escape(report['name'])} in {escape(report['store_dir'])}", style="dim", soft_wrap=True)
    console.print(f"{escape(compiler_text(identity['compiler']))}, {identity['level']}", style="dim")
    console.print("everything is stored" if report["cached"] else _total(report))
    if report["forbidden"]:
        console.print(f"[yellow]a build would {escape(report['would'])}", soft_wrap=True)


@with_build_flags
def explain_command(
    robot: Robot, flags: BuildFlags, name: RegisteredName = None, cache_dir: CacheDir = None, as_json: JsonFlag = False
) -> None:
    """Say in one sentence for each unit why it would be compiled, or why not."""
    report = _report(robot, flags, name, cache_dir)
    sentences = explain_plan(report)
    if as_json:
        status = {unit["algorithm"]: unit["status"] for unit in report["units"]}
        units = [{"algorithm": a, "status": status[a], "sentence": sentence} for a, sentence in sentences.items()]
        write_json({"name": report["name"], "cached": report["cached"], "units": units})
        return
    console = results()
    if not sentences:
        console.print(INTERPRETED)
    for algorithm, sentence in sentences.items():
        console.print(f"[bold]{escape(algorithm)}[/]: {escape(sentence)}", soft_wrap=True)


def _report(robot: str, flags: BuildFlags, name: str | None, cache_dir: Path | None) -> dict[str, Any]:
    """Return the plan of a description, or of a registered robot if there is no such file."""
    is_description, registered = Path(robot).exists() or robot in example_robots(), list_registered(cache_dir)
    if is_description or robot not in registered:
        description = find_description(robot, registered)
        return build_plan(chosen_name(name, description), description, cache_dir=cache_dir, **flags.options())
    if name is not None or flags != BuildFlags():
        raise OptionError(f"robot {robot!r} is planned as it was registered; give its description to change that")
    return build_plan(robot, cache_dir=cache_dir)


def _expected(cost: Mapping[str, Any] | None) -> str:
    return f"{seconds_text(cost['seconds'])}, {bytes_text(cost['memory'])}" if cost else ""


def _total(report: Mapping[str, Any]) -> str:
    expected, missing = report["expected"], [unit for unit in report["units"] if unit["status"] != "hit"]
    copied = sum(unit["tier"] is not None for unit in missing)
    compiled, unknown = len(missing) - copied, len(expected["unknown"])
    text = f"{count_text(copied, 'unit')} to copy from tiers, " if copied else ""
    text += f"{count_text(compiled, 'unit')} to build"
    if unknown < compiled:
        at_once = count_text(expected["workers"], "compiler")
        text += f", about {seconds_text(expected['seconds'])} and {bytes_text(expected['memory'])} with {at_once}"
        text += f", and {unknown} that no recorded build tells of" if unknown else ""
    return text
