"""One step of a build: a compiler that has to write a file, and what to say if it does not."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from grid_core.errors import CompileError
from grid_core.toolchains.process import last_lines, run_logged
from grid_core.toolchains.workers import JOBS_VARIABLE


def run_step(command: Sequence[str], *, cwd: Path, log: Path, output: Path, subject: str) -> None:
    """Run a compiler.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    cwd : Path
        Where it runs.
    log : Path
        File that receives the command and all that it prints.
    output : Path
        The file that it has to write; the command's own path for it may be relative.
    subject : str
        What it works on, for messages.

    Raises
    ------
    CompileError
        It failed, or wrote nothing; there is no output then.
    """
    try:
        status = run_logged(command, cwd=cwd, log=log)
    except OSError as error:
        raise CompileError(
            f"{command[0]} cannot be started: {error}; run the build again to look for another compiler"
        ) from None
    if status == 0 and output.exists() and output.stat().st_size > 0:
        return
    output.unlink(missing_ok=True)
    raise CompileError(_failure(command[0], status, subject, log))


def _failure(program: str, status: int, subject: str, log: Path) -> str:
    said = last_lines(log)
    if status == 0:
        reason, advice = "ended well but wrote nothing", "is the disk full, or the compiler a stub?"
    elif status < 0 or "Killed" in said:
        reason = f"was killed ({signal.Signals(-status).name if status < 0 else 'one of its passes'})"
        advice = f"most often there was too little memory: set {JOBS_VARIABLE}=1 and build again"
    else:
        reason, advice = f"failed with exit status {status}", "the first line of the log is the command to repeat"
    return f"{program} {reason} on {subject}; log: {log}\n{said}\n{advice}"
