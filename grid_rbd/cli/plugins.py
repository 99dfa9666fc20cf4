"""The commands ``plugins``, ``plugins check`` and ``plugins new``."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

from grid_core.plugins.catalogue import Catalogue
from grid_core.plugins.manager import remedy, survey_plugins
from grid_rbd.cli.commands import Commands
from grid_rbd.cli.doctor import SIGNS
from grid_rbd.cli.failures import FAILURE
from grid_rbd.cli.options import JsonFlag, Plugins
from grid_rbd.cli.output import PROGRESS, count_text, results, table, write_json
from grid_rbd.scaffold import new_plugin

if TYPE_CHECKING:
    from grid_core.testing import Finding

app = Commands(invoke_without_command=True)


@app.callback()
def plugins_command(context: typer.Context, plugins: Plugins = None, as_json: JsonFlag = False) -> None:
    """List the plugins with their algorithms, and broken ones with the reason; exit code 1 if one was named."""
    if context.invoked_subcommand is not None:
        return
    catalogue = survey_plugins(tuple(str(file.resolve()) for file in plugins or ()))
    if as_json:
        write_json(_document(catalogue))
    else:
        _print_catalogue(catalogue)
    if any(broken.is_named for broken in catalogue.broken):
        raise typer.Exit(FAILURE)


@app.command("check")
def check_command(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A plugin file, or the folder of a package.")],
    build: Annotated[
        bool, typer.Option("--build", help="Also run the conformance suite: compile every algorithm for small robots.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Check a plugin, installed or not: whether it loads, and what it declares; exit code 1 if it breaks a rule."""
    from grid_core.testing import inspect_plugin

    findings = inspect_plugin(path)
    if build and all(finding.status != "fail" for finding in findings):
        findings += _built(path)
    failed = [finding for finding in findings if finding.status == "fail"]
    if as_json:
        write_json({"ok": not failed, "path": str(path.resolve()), "findings": [asdict(f) for f in findings]})
    else:
        _print_findings(findings)
    if failed:
        raise typer.Exit(FAILURE)


@app.command("new")
def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the plugin, its folder and its first algorithm.")],
    as_json: JsonFlag = False,
) -> None:
    """Write the project of a new plugin into the folder NAME: an algorithm, its tests, and what installs it."""
    folder = new_plugin(name, Path.cwd())
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    if as_json:
        write_json({"folder": str(folder), "files": files})
        return
    console = results()
    console.print(f"{escape(name)}: {escape(', '.join(files))}", soft_wrap=True)
    console.print(f"next: cd {escape(name)}; pip install -e '.\\[test]'; python -m pytest", style="dim", soft_wrap=True)


def _print_catalogue(catalogue: Catalogue) -> None:
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
    profiles = (f"{name} ({len(members)})" for name, members in catalogue.profiles.items())
    console.print(f"profiles: {', '.join(profiles)}", style="dim")
    for broken in catalogue.broken:
        console.print(f"[bold red]{escape(broken.name)}[/] is broken: {escape(broken.reason)}", soft_wrap=True)
        console.print(escape(f"  {broken.origin}; {remedy(broken)}"), soft_wrap=True)


def _built(path: Path) -> Iterator[Finding]:
    """Run the conformance suite in a store of its own."""
    from grid_core.testing import conformance, temporary_store

    with temporary_store():
        cases = conformance(path)
        for number, case in enumerate(cases):
            logging.getLogger(PROGRESS).info("%s (%d of %d)", case, number + 1, len(cases))
            yield case.finding()


def _print_findings(findings: Sequence[Finding]) -> None:
    rows = table("", "check", "of", "found")
    for finding in findings:
        sign, style = SIGNS[finding.status]
        found = Text(finding.found)
        if finding.advice:
            found.append(f"\n{finding.advice}", style=style)
        rows.add_row(Text(sign, style=style), finding.check, Text(finding.item), found)
    console = results()
    console.print(rows)
    console.print()
    counts = Counter(finding.status for finding in findings)
    if counts["fail"]:
        console.print(f"{count_text(counts['fail'], 'rule')} broken", style="red")
    else:
        console.print(f"keeps {count_text(counts['ok'], 'rule')}", style="green")


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
            {"name": b.name, "origin": b.origin, "reason": b.reason, "remedy": remedy(b)} for b in catalogue.broken
        ],
        "profiles": {name: list(members) for name, members in catalogue.profiles.items()},
    }
