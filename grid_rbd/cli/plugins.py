"""The command ``plugins``."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from grid_core.plugins.catalogue import Catalogue
from grid_core.plugins.manager import DISABLE, survey_plugins
from grid_rbd.cli.options import JsonFlag, Plugins
from grid_rbd.cli.output import results, table, write_json


def plugins_command(plugins: Plugins = None, as_json: JsonFlag = False) -> None:
    """List the plugins with their algorithms, and broken ones with the reason and how to disable them."""
    catalogue = survey_plugins(tuple(str(file.resolve()) for file in plugins or ()))
    if as_json:
        write_json(_document(catalogue))
        return
    console = results()
    for plugin in catalogue.plugins:
        where = escape(f"{plugin.version}, {plugin.origin}, sources {plugin.digest[:12]}")
        console.print(f"[bold]{escape(plugin.name)}[/] [dim]{where}", soft_wrap=True)
        rows = table("algorithm", "computes")
        for algorithm in _algorithms(catalogue, plugin.name):
            names = ", ".join((algorithm.name, *algorithm.aliases))
            rows.add_row(names, f"[dim]{escape(algorithm.summary)}")
        console.print(rows)
        console.print()
    for broken in catalogue.broken:
        console.print(f"[bold red]{escape(broken.name)}[/] is broken: {escape(broken.reason)}", soft_wrap=True)
        console.print(escape(f"  {broken.origin}; set {DISABLE}={broken.name} to leave it out"), soft_wrap=True)
    profiles = (f"{name} ({len(members)})" for name, members in catalogue.profiles.items())
    console.print(f"profiles: {', '.join(profiles)}", style="dim")


def _algorithms(catalogue: Catalogue, plugin: str) -> list[Any]:
    return [a for a in catalogue.algorithms.values() if catalogue.providers[a.name].name == plugin]


def _document(catalogue: Catalogue) -> dict[str, Any]:
    return {
        "plugins": [
            {
                "name": plugin.name,
                "version": plugin.version,
                "origin": plugin.origin,
                "digest": plugin.digest,
                "algorithms": [
                    {"name": a.name, "aliases": list(a.aliases), "family": a.family, "summary": a.summary}
                    for a in _algorithms(catalogue, plugin.name)
                ],
            }
            for plugin in catalogue.plugins
        ],
        "broken": [
            {"name": b.name, "origin": b.origin, "reason": b.reason, "disable": f"{DISABLE}={b.name}"}
            for b in catalogue.broken
        ],
        "profiles": {name: list(members) for name, members in catalogue.profiles.items()},
    }
