"""Commands about registered robots: ``list``, ``show``, ``forget``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.markup import escape

from grid_rbd.artifacts import forget_artifact
from grid_rbd.cli.options import CacheDir, JsonFlag, NameArgument
from grid_rbd.cli.output import bytes_text, results, table, write_json
from grid_rbd.inspection import describe_robot, describe_robots
from grid_rbd.maintenance import forget_robot


def list_command(cache_dir: CacheDir = None, as_json: JsonFlag = False) -> None:
    """List the registered robots."""
    robots = describe_robots(cache_dir)
    if as_json:
        write_json(robots)
        return
    if not robots:
        results().print("no robot is registered; 'grid-rbd try' builds one that ships with grid-rbd")
        return
    rows = table("name", "base", "nq", "nv", "type", "level", "units", "size", right=("nq", "nv", "units", "size"))
    for robot in robots:
        rows.add_row(f"[bold]{escape(robot['name'])}", *_summary(robot))
    results().print(rows)


def _summary(robot: Mapping[str, Any]) -> tuple[str, ...]:
    if "stale_reasons" in robot:
        return ("[yellow]build again", *[""] * 6)
    model = robot["model"]
    base = "floating" if model["floating_base"] else "fixed"
    sizes = (str(model["nq"]), str(model["nv"]))
    return (
        base, *sizes, robot["options"]["dtype"], robot["level"], str(len(robot["units"])), bytes_text(robot["bytes"])
    )  # fmt: skip


def show_command(
    name: NameArgument,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a registered robot: joints, options, compiled units."""
    robot = describe_robot(name, cache_dir)
    if as_json:
        write_json(robot)
        return
    model, options, console = robot["model"], robot["options"], results()
    base = "floating" if model["floating_base"] else "fixed"
    console.print(f"[bold]{escape(name)}[/]  {base} base, nq {model['nq']}, nv {model['nv']}, {model['nb']} bodies")
    console.print(f"{options['dtype']}, {robot['level']}, {_joint_dynamics(options['settings'])}")
    console.print(f"in {escape(robot['store'])}\n", style="dim", soft_wrap=True)
    console.print(_joints(robot["joints"]))
    console.print()
    units = table("algorithm", "size", "compiled in", "key", right=("size", "compiled in"))
    for algorithm, unit in robot["units"].items():
        seconds = "" if unit["seconds"] is None else f"{unit['seconds']:.1f} s"
        units.add_row(algorithm, bytes_text(unit["bytes"]), seconds, f"[dim]{unit['key'][:12]}")
    console.print(units)


def _joint_dynamics(settings: Mapping[str, Any]) -> str:
    return f"joint friction by {settings['friction_model']}" if settings["joint_dynamics"] else "no joint friction"


def _joints(joints: list[Mapping[str, Any]]) -> Any:
    rows = table("joint", "kind", "parent", "q", "v", "limits", right=("q", "v"))
    for joint in joints:
        parent = "[dim]world" if joint["parent"] is None else escape(joint["parent"])
        kind = joint["kind"] if joint["mimic"] is None else f"mimics {escape(joint['mimic'])}"
        rows.add_row(escape(joint["name"]), kind, parent, *map(_slots, (joint["q"], joint["v"])), _limits(joint))
    return rows


def _slots(block: list[int]) -> str:
    first, width = block
    return str(first) if width == 1 else f"{first}-{first + width - 1}"


def _limits(joint: Mapping[str, Any]) -> str:
    lower, upper = joint["position_limits"]
    if lower is None and upper is None:
        return "[dim]none"
    return " to ".join("" if value is None else f"{value:.3g}" for value in (lower, upper))


def forget_command(
    name: NameArgument,
    consumer: Annotated[
        str | None,
        typer.Option("--consumer", metavar="PROJECT", show_default=False, help="Forget an artifact of this project."),
    ] = None,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Remove the name of a registered robot; [bold]gc[/] then removes what no other robot uses."""
    report = forget_robot(name, cache_dir) if consumer is None else forget_artifact(consumer, name, cache_dir)
    if as_json:
        write_json(report)
        return
    console = results()
    console.print(f"[green]✓[/] [bold]{escape(name)}[/] is no longer {'registered' if consumer is None else 'kept'}")
    console.print("'grid-rbd gc --execute' removes what it alone used, an hour after its last use", style="dim")
