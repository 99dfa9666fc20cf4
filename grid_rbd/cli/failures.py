"""Exit codes, and how errors reach the user: one clear message on standard error, no traceback."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import typer
from rich.text import Text

from grid_backends.errors import NotAvailableError, RunnerMissingError
from grid_consumers.errors import ConsumerArtifactError
from grid_core.errors import (
    GridError,
    OptionError,
    RobotNotRegisteredError,
    StaleRobotError,
    ToolchainError,
    URDFParseError,
)
from grid_rbd.cli.commands import Group
from grid_rbd.cli.output import ResultsLostError, errors, replace_unencodable, write_json, written_out
from grid_rbd.cli.spelling import Spelling
from grid_rbd.cli.termination import Terminated, orderly_termination
from grid_store import TierSettingsError

OK, FAILURE, USAGE, DESCRIPTION, TOOLCHAIN, ROBOT, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 5, 130, 143

EXIT_CODES = {
    OK: "success",
    FAILURE: "a check, a comparison or an operation failed",
    USAGE: "a wrong command line or option",
    DESCRIPTION: "a robot description that does not exist or is not valid",
    TOOLCHAIN: "no working compiler or runner, or a compiler that failed",
    ROBOT: "no such registered robot or artifact, or one that has to be built again",
    INTERRUPTED: "interrupted",
    TERMINATED: "terminated by SIGTERM",
}

_CODES: tuple[tuple[tuple[type[BaseException], ...], int], ...] = (
    ((OptionError, NotAvailableError, TierSettingsError), USAGE),
    ((URDFParseError, FileNotFoundError), DESCRIPTION),
    ((ToolchainError, RunnerMissingError), TOOLCHAIN),
    ((RobotNotRegisteredError, StaleRobotError, ConsumerArtifactError), ROBOT),
    ((GridError, OSError, MemoryError), FAILURE),
    ((KeyboardInterrupt, typer.Abort), INTERRUPTED),
    ((Terminated,), TERMINATED),
)
_USAGE_ERROR, _CLICK_ERROR = typer.BadParameter.__mro__[1:3]
"""The roots of what the parser of command lines raises; typer brings its own or click's, depending on its version."""


class Program(Group):
    """The root command: turns every expected error into a message and an exit code."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run a command line and end the process."""
        given = list(sys.argv[1:] if args is None else args)
        replace_unencodable()
        try:
            with orderly_termination():
                code = super().main(given, *rest, **{**options, "standalone_mode": False}) or OK
                with written_out():  # what the parser of command lines printed, such as help
                    pass
            if code == INTERRUPTED:  # recent versions of typer catch the interrupt themselves
                raise KeyboardInterrupt
        except (Exception, KeyboardInterrupt, Terminated) as error:
            code = exit_code(error)
            if code is None:
                raise
            report(error, code, Spelling(self._meant(given).params), as_json="--json" in given)
        sys.exit(code)

    def _meant(self, words: Sequence[str]) -> Any:
        """Return the command of a command line, that of a group if it names one."""
        command: Any = self
        for word in words:
            command = getattr(command, "commands", {}).get(word, command)
        return command


def exit_code(error: BaseException) -> int | None:
    """Return the exit code of an expected error, ``None`` for one that is a defect and deserves its traceback."""
    if isinstance(error, _CLICK_ERROR):
        return USAGE if isinstance(error, _USAGE_ERROR) else FAILURE
    return next((code for kinds, code in _CODES if isinstance(error, kinds)), None)


def report(error: BaseException, code: int, spelling: Spelling, *, as_json: bool) -> None:
    """Print an error; with ``--json`` also as the one document on standard output."""
    text = spelling(_message(error))
    console = errors()
    console.print(Text("error: ", style="bold red").append(text, style="default not bold"), soft_wrap=True)
    if usage := _usage(error):
        console.print(Text(usage, style="dim"), soft_wrap=True)
    if as_json:
        with suppress(ResultsLostError):  # the error may be just that
            write_json({"error": text, "kind": type(error).__name__, "exit_code": code})


def _message(error: BaseException) -> str:
    if isinstance(error, _CLICK_ERROR):
        return str(error.format_message())  # type: ignore[attr-defined]
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return "interrupted"
    if isinstance(error, Terminated):
        return "terminated"
    if isinstance(error, MemoryError) and not isinstance(error, GridError):
        return f"not enough memory: {str(error) or 'none is left'}; use a smaller batch"
    return str(error)


def _usage(error: BaseException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    return f"{' '.join(context.get_usage().split())}\n'{context.command_path} --help' explains every option"


def exit_code_help() -> str:
    """Return the exit codes for ``--help``."""
    return "Exit codes: " + ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + "."
