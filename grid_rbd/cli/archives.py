"""Commands that carry robots and artifacts between machines: ``export``, ``import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from grid_rbd.archives import export_robots, import_robots
from grid_rbd.cli.failures import FAILURE
from grid_rbd.cli.options import Artifacts, CacheDir, JsonFlag, RegisteredNames
from grid_rbd.cli.output import bytes_text, count_text, results, write_json

SIGNS = {"registered": "[green]✓[/]", "present": "[dim]=[/]", "refused": "[red]✗[/]"}


def export_command(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")],
    names: RegisteredNames = None,
    artifacts: Artifacts = None,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Write robots and artifacts into one file that needs nothing else, for [bold]grid-rbd import[/]."""
    report = export_robots(output, names or None, cache_dir, artifacts=artifacts or None)
    if as_json:
        write_json(report)
        return
    counted = [count_text(len(report[kind]), kind.removesuffix("s")) for kind in ("robots", "artifacts")]
    held = ", ".join([*counted, bytes_text(report["bytes"])])
    results().print(f"[green]✓[/] {escape(str(output))}: {held}", soft_wrap=True)


def import_command(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="What export wrote; only from those whom you trust.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Let names mean what the file says even if they mean something else here.")
    ] = False,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Take over what is in a file that [bold]grid-rbd export[/] wrote; every digest is checked."""
    report = import_robots(archive, cache_dir, replace=replace)
    if as_json:
        write_json(report)
    else:
        console = results()
        for taken in [*report["robots"], *report["artifacts"]]:
            reason = f": {taken['reason']}" if taken["reason"] else ""
            text = f"{SIGNS[taken['outcome']]} [bold]{escape(taken['name'])}[/] {taken['outcome']}{escape(reason)}"
            console.print(text, soft_wrap=True)
        console.print(f"{count_text(report['entries'], 'new entry', 'new entries')}, {report['present']} were here")
    if not report["ok"]:
        raise typer.Exit(FAILURE)
