"""The command ``doctor``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from grid_rbd.cli.failures import FAILURE
from grid_rbd.cli.options import CacheDir, JsonFlag, Plugins
from grid_rbd.cli.output import results, table, write_json
from grid_rbd.doctor import run_checks

SIGNS = {"ok": ("✓", "green"), "off": ("-", "dim"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


def doctor_command(
    cache_dir: CacheDir = None,
    compiler: Annotated[
        str | None, typer.Option("--compiler", metavar="COMMAND", help="Look at this compiler.", show_default=False)
    ] = None,
    plugins: Plugins = None,
    as_json: JsonFlag = False,
) -> None:
    """Check whether this machine can build and run robots, and say what to do if not."""
    checks = list(run_checks(cache_dir=cache_dir, compiler=compiler, plugins=_paths(plugins)))
    failed = [check.name for check in checks if check.status == "fail"]
    if as_json:
        write_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        console = results()
        rows = table("", "check", "found")
        for check in checks:
            sign, style = SIGNS[check.status]
            found = Text(check.found)
            if check.advice:
                found.append(f"\n{check.advice}", style=style)
            rows.add_row(Text(sign, style=style), check.name, found)
        console.print(rows)
        console.print()
        if failed:
            console.print(f"failed: {', '.join(failed)}", style="red")
        elif any(check.status == "warn" for check in checks):
            console.print("ready, with warnings", style="yellow")
        else:
            console.print("ready", style="green")
    if failed:
        raise typer.Exit(FAILURE)


def _paths(plugins: list[Path] | None) -> tuple[Path, ...]:
    return tuple(plugins or ())
