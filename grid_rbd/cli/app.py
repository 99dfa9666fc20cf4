"""The root of the command line: its commands, and what holds for all of them."""

from __future__ import annotations

from typing import Annotated

import typer

from grid_core.version import __version__
from grid_rbd.cli import (
    archives,
    artifacts,
    bench,
    building,
    doctor,
    planning,
    plugins,
    stored,
    tiers,
    trial,
    tune,
    upkeep,
)
from grid_rbd.cli.commands import Commands
from grid_rbd.cli.failures import Program, exit_code_help
from grid_rbd.cli.output import results, send_messages_to_stderr

app = Commands(
    cls=Program,
    help="From a robot description to the fastest batched rigid-body dynamics for that robot.",
    epilog=exit_code_help(),
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

START, ROBOTS, MACHINE, STORE = "Start here", "Robots", "This machine", "The store"
app.command("try", rich_help_panel=START)(trial.try_command)
app.command("doctor", rich_help_panel=START)(doctor.doctor_command)
app.command("build", rich_help_panel=ROBOTS)(building.build_command)
app.command("plan", rich_help_panel=ROBOTS)(planning.plan_command)
app.command("explain", rich_help_panel=ROBOTS)(planning.explain_command)
app.command("generate", rich_help_panel=ROBOTS)(building.generate_command)
app.command("bench", rich_help_panel=ROBOTS)(bench.bench_command)
app.command("tune", rich_help_panel=ROBOTS)(tune.tune_command)
app.command("list", rich_help_panel=MACHINE)(stored.list_command)
app.command("show", rich_help_panel=MACHINE)(stored.show_command)
app.command("forget", rich_help_panel=MACHINE)(stored.forget_command)
app.add_typer(plugins.app, name="plugins", rich_help_panel=MACHINE)
app.command("config", rich_help_panel=MACHINE)(upkeep.config_command)
app.command("artifacts", rich_help_panel=STORE)(artifacts.artifacts_command)
app.command("root", rich_help_panel=STORE)(upkeep.root_command)
app.command("stats", rich_help_panel=STORE)(upkeep.stats_command)
app.command("verify", rich_help_panel=STORE)(upkeep.verify_command)
app.command("repair", rich_help_panel=STORE)(upkeep.repair_command)
app.command("gc", rich_help_panel=STORE)(upkeep.gc_command)
app.command("export", rich_help_panel=STORE)(archives.export_command)
app.command("import", rich_help_panel=STORE)(archives.import_command)
app.add_typer(tiers.tiers_app, name="tiers", rich_help_panel=STORE)
app.add_typer(tiers.keys_app, name="keys", rich_help_panel=STORE)


def _print_version(wanted: bool) -> None:
    if wanted:
        results().print(f"grid-rbd {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback does the work
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Set up messages; without a command, explain the commands."""
    send_messages_to_stderr(quiet=quiet)
    if context.invoked_subcommand is None:
        results().print(context.get_help())
