"""The command about what other projects compiled against robots: ``artifacts``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.markup import escape

from grid_rbd.artifacts import describe_artifacts
from grid_rbd.cli.options import CacheDir, JsonFlag
from grid_rbd.cli.output import bytes_text, results, table, write_json


def artifacts_command(
    consumer: Annotated[str | None, typer.Argument(help="A project; all of them if it is left out.")] = None,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """List what projects compiled against the headers of robots."""
    found = describe_artifacts(consumer, cache_dir)
    if as_json:
        write_json(found)
        return
    if not found:
        results().print("there is no artifact; grid_rbd.build_artifact makes them")
        return
    rows = table("project", "artifact", "robot", "type", "level", "size", right=("size",))
    for artifact in found:
        rows.add_row(escape(artifact["consumer"]), f"[bold]{escape(artifact['name'])}", *_facts(artifact))
    results().print(rows)


def _facts(artifact: Mapping[str, Any]) -> tuple[str, ...]:
    if "stale_reasons" in artifact:
        return ("[yellow]build again", "", "", "")
    meta = artifact["meta"]
    return escape(meta["robot"]["robot"]), meta["dtype"], meta["level"], bytes_text(artifact["bytes"])
