"""The command ``grid-rbd``. Commands read arguments and print; functions of :mod:`grid_rbd` do the work."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command line; the process ends with one of the documented exit codes."""
    try:
        from grid_rbd.cli.app import app

        app(prog_name="grid-rbd")
    except KeyboardInterrupt:  # before there is a command that could say so
        sys.exit(128 + signal.SIGINT)
