"""The command ``grid-rbd``. Commands read arguments and print; functions of :mod:`grid_rbd` do the work."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the process ends with one of the documented exit codes."""
    from grid_rbd.cli.app import app

    app(prog_name="grid-rbd")
