"""Commands that look after the store: ``verify``, ``repair``, ``gc``, ``root``, ``stats``, ``config``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape

from grid_rbd.cli.failures import FAILURE
from grid_rbd.cli.options import CacheDir, JsonFlag
from grid_rbd.cli.output import bytes_text, count_text, results, seconds_text, table, write_json
from grid_rbd.cli.sizes import size
from grid_rbd.configuration import settings
from grid_rbd.maintenance import gc_cache
from grid_rbd.repairing import repair_cache, verify_cache
from grid_rbd.storage import cache_roots, cache_stats

OUTCOMES = {"rebuilt": "green", "forgotten": "yellow", "failed": "red"}


def verify_command(cache_dir: CacheDir = None, as_json: JsonFlag = False) -> None:
    """Read all that is stored and compare it with its digests; [bold]repair[/] mends what is found."""
    report = verify_cache(cache_dir)
    if as_json:
        write_json(report)
    else:
        console = results()
        _print_damage(report["damaged"])
        for name, losses in [*report["robots"].items(), *report["artifacts"].items()]:
            console.print(f"[yellow]![/] [bold]{escape(name)}[/]: {escape('; '.join(losses))}", soft_wrap=True)
        console.print(f"{count_text(report['entries'], 'entry', 'entries')}, {bytes_text(report['bytes'])} read")
        console.print("[green]everything holds" if report["ok"] else "'grid-rbd repair' sets it aside and builds again")
    if not report["ok"]:
        raise typer.Exit(FAILURE)


def repair_command(cache_dir: CacheDir = None, as_json: JsonFlag = False) -> None:
    """Move what is damaged to quarantine, and build the robots again that need it."""
    report = repair_cache(cache_dir)
    if as_json:
        write_json(report)
    else:
        console = results()
        _print_damage(report["damaged"])
        for robot in report["robots"]:
            style = OUTCOMES[robot["outcome"]]
            outcome = f"[{style}]{robot['outcome']}[/] [bold]{escape(robot['name'])}[/]"
            console.print(f"{outcome}: {escape(robot['reason'])}", soft_wrap=True)
        for artifact in report["artifacts"]:
            console.print(
                f"[yellow]forgotten[/] [bold]{escape(artifact)}[/]: its project builds it again", soft_wrap=True
            )
        for artifact, reasons in report["artifacts_left"].items():
            text = f"[red]failed[/] [bold]{escape(artifact)}[/]: {escape('; '.join(reasons))}"
            console.print(f"{text}; its project builds it again", soft_wrap=True)
        if not any(report[found] for found in ("damaged", "robots", "artifacts", "artifacts_left")):
            console.print("[green]nothing is damaged")
    if not report["ok"]:
        raise typer.Exit(FAILURE)


def _print_damage(damaged: Sequence[Mapping[str, Any]]) -> None:
    for finding in damaged:
        item = finding["item"][:12] if finding["kind"] in ("entry", "action") else finding["item"]
        text = f"[red]✗[/] {finding['kind']} [bold]{escape(item)}[/]: {escape(finding['problem'])}"
        results().print(text, soft_wrap=True)


def gc_command(
    execute: Annotated[bool, typer.Option("--execute", help="Delete; otherwise only report.")] = False,
    objects_days: Annotated[
        float | None,
        typer.Option("--objects-days", metavar="DAYS", min=0.0, help="Keep objects that were used this recently."),
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option(
            "--max-size",
            metavar="SIZE",
            show_default=False,
            help="Keep what nobody needs while the store fits into this, such as 500M or 20G. Default: all of it goes.",
        ),
    ] = None,
    minimum_hours: Annotated[
        float, typer.Option("--min-hours", metavar="HOURS", min=0.0, help="Keep what was used this recently.")
    ] = 1.0,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Find what no registered robot, consumer or running process needs; a dry run unless told otherwise."""
    limit = None if max_size is None else size(max_size, "--max-size")
    report = gc_cache(
        cache_dir, execute=execute, objects_days=objects_days, max_bytes=limit, minimum_hours=minimum_hours
    )
    if as_json:
        write_json(report)
        return
    console = results()
    rows = table("entry", "why it goes")
    for key, reason in report["reasons"].items():
        rows.add_row(f"[dim]{key[:12]}", reason)
    if rows.row_count:
        console.print(rows)
        console.print()
    verb = "removed" if execute else "would be removed"
    gone = count_text(len(report["reasons"]), "entry", "entries")
    freed = bytes_text(report["entries_bytes"] + report["objects_bytes"])
    console.print(f"{gone}, {freed} {verb}; {report['entries_kept']} kept")
    console.print(escape(report["cache_dir"]), style="dim", soft_wrap=True)
    if rows.row_count and not execute:
        console.print("the same command with --execute removes them", style="dim")


def root_command(cache_dir: CacheDir = None, as_json: JsonFlag = False) -> None:
    """Show where the store is, and the roots that keep its entries: robots and artifacts of consumers."""
    report = cache_roots(cache_dir)
    if as_json:
        write_json(report)
        return
    console = results()
    console.print(escape(report["cache_dir"]), soft_wrap=True)
    if report["roots"]:
        rows = table("root", "kind", "entries", "size", right=("entries", "size"))
        for root in report["roots"]:
            kind = "robot" if root["kind"] == "name" else root["kind"]
            rows.add_row(f"[bold]{escape(root['name'])}", kind, str(root["entries"]), bytes_text(root["bytes"]))
        console.print()
        console.print(rows)


def stats_command(cache_dir: CacheDir = None, as_json: JsonFlag = False) -> None:
    """Show what the store holds, by kind and by area."""
    report = cache_stats(cache_dir)
    if as_json:
        write_json(report)
        return
    console = results()
    kinds = table("kind", "entries", "size", "took", right=("entries", "size", "took"))
    for kind, counts in report["entries"].items():
        took = seconds_text(counts["seconds"]) if counts["seconds"] else ""
        kinds.add_row(kind, str(counts["number"]), bytes_text(counts["bytes"]), took)
    areas = table("area", "files", "size", right=("files", "size"))
    for area, usage in report["areas"].items():
        areas.add_row(area, str(usage["files"]), bytes_text(usage["bytes"]))
    console.print(kinds)
    console.print()
    console.print(areas)
    if report["tiers"]:
        console.print()
        console.print(_tiers(report["tiers"]))
    console.print(f"\n{count_text(report['robots'], 'robot')}, {bytes_text(report['bytes'])}")
    console.print(escape(report["cache_dir"]), style="dim", soft_wrap=True)


def _tiers(counts: Mapping[str, Mapping[str, int]]) -> Any:
    columns = ("hits", "misses", "refused", "failed", "read", "written")
    rows = table("tier", *columns, right=columns)
    for url, counted in counts.items():
        numbers = (str(counted[name]) for name in columns[:4])
        rows.add_row(escape(url), *numbers, bytes_text(counted["bytes_read"]), bytes_text(counted["bytes_written"]))
    return rows


def config_command(cache_dir: CacheDir = None, as_json: JsonFlag = False) -> None:
    """Show every setting with where its value comes from."""
    found = list(settings(cache_dir))
    if as_json:
        write_json([asdict(setting) for setting in found])
        return
    rows = table("setting", "value", "from", "meaning")
    for setting in found:
        rows.add_row(setting.name, escape(_text(setting.value)), escape(setting.origin), f"[dim]{setting.meaning}")
    results().print(rows)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
