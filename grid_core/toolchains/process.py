"""Running a compiler: its own process group, a log, and a way to stop what a job has started."""

from __future__ import annotations

import logging
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

from grid_core.errors import ToolchainError
from grid_core.toolchains.guard import guarded

T = TypeVar("T")

SEARCH_PATHS = frozenset({"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_COMPARE_DEBUG", "DEPENDENCIES_OUTPUT"})
"""Variables that change what a compiler reads or writes; units include nothing that they could supply."""


PATIENCE = 30.0
"""Seconds that a compiler has for a question about itself, and for a small library."""

NOTICE = 5.0
"""Seconds after which it is said what is waited for."""

_log = logging.getLogger("grid_rbd.toolchains")


class Children:
    """The processes that a set of jobs has running, so that the first failure ends them all.

    A set that a job makes belongs to the set of that job, too.

    Attributes
    ----------
    failure : BaseException or None
        The first failure of a job.
    memory : int
        Bytes that the largest of the processes so far had resident.
    """

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self.memory = 0
        self.outer = _current.get()
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def call(self, job: Callable[[], T]) -> T:
        """Run ``job`` in this thread; processes that it starts through :func:`run_logged` belong to this set."""
        if self.failure is not None:
            raise CancelledError
        token = _current.set(self)
        try:
            return job()
        except BaseException as error:
            self.stop(error)
            raise
        finally:
            _current.reset(token)

    @contextmanager
    def holding(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Count ``process`` among the running ones until the block ends."""
        with self._lock:
            self._running.add(process)
            if self.failure is not None:
                kill(process)
        try:
            with self.outer.holding(process) if self.outer else nullcontext():
                yield
        finally:
            with self._lock:
                self._running.discard(process)

    def note_memory(self, size: int) -> None:
        """Count a process that had ``size`` bytes resident and has ended."""
        with self._lock:
            self.memory = max(self.memory, size)
        if self.outer:
            self.outer.note_memory(size)

    def stop(self, failure: BaseException) -> None:
        """Kill every running process; a job that has not started is cancelled, a process that starts late is killed."""
        with self._lock:
            self.failure = failure if self.failure is None else self.failure
            for process in self._running:
                kill(process)


_current: ContextVar[Children | None] = ContextVar("children", default=None)


def stopped() -> bool:
    """Return whether the job that runs in this thread was told to stop, for whatever reason."""
    children = _current.get()
    while children is not None and children.failure is None:
        children = children.outer
    return children is not None


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Say what is waited for if the block takes long."""
    said = f"{what} has not finished after {NOTICE:g} s; it is stopped after {PATIENCE:g} s"
    timer = threading.Timer(NOTICE, _log.warning, [said])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def call_in_time(job: Callable[[], T], what: str) -> T:
    """Run ``job`` and kill the processes that it started through :func:`run_logged` after ``PATIENCE`` seconds.

    Parameters
    ----------
    what : str
        What it does, for who waits.

    Raises
    ------
    ToolchainError
        They were killed.
    """
    children = Children()
    late = ToolchainError(f"has not finished after {PATIENCE:g} s; it was stopped")
    timer = threading.Timer(PATIENCE, children.stop, [late])
    timer.daemon = True
    timer.start()
    try:
        with waiting_for(what):
            return children.call(job)
    except Exception:
        if children.failure is late:
            raise late from None
        raise
    finally:
        timer.cancel()


def run_logged(command: Sequence[str], *, cwd: Path, log: Path) -> int:
    """Run a command without input, its output going to ``log`` behind the command itself; return the exit status.

    The process and its children (a compiler driver has several) form a group that dies with the call, and with this
    process. What they keep for a while is in ``cwd``, so that whoever removes that folder removes it too.
    """
    with log.open("wb") as sink:
        sink.write(f"{shlex.join(command)}\n".encode())
        sink.flush()
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**compiler_environment(), "TMPDIR": str(cwd.absolute())},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    children = _current.get() or Children()
    with children.holding(process):
        try:
            with guarded(process.pid):
                children.note_memory(_wait(process))
        except BaseException:
            kill(process)
            process.wait()
            raise
    return process.returncode


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process; return the bytes that it, or one of its children, had resident, 0 if nobody can tell."""
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except ChildProcessError:  # somebody who wanted to kill it was told first that it had ended
        process.wait()
        return 0
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def printed(log: Path, count: int = 15) -> str:
    """Return the end of what a command printed into its log, indented; nothing if it printed nothing."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[1:] if log.exists() else []
    return "\n".join(f"    {line}" for line in lines[-count:])


def last_lines(log: Path) -> str:
    """Return the end of what a command printed, for the message of an error."""
    return printed(log) or "    (it printed nothing)"


def compiler_environment() -> dict[str, str]:
    """Return the environment for a compiler: messages in English, no search paths from outside."""
    kept = {name: value for name, value in os.environ.items() if name not in SEARCH_PATHS}
    return {**kept, "LC_ALL": "C"}


def ask(command: Sequence[str], option: str) -> str:
    """Return what a compiler prints when it is asked something about itself, or raise ``ToolchainError``."""
    try:
        process = subprocess.Popen(
            [*command, option],
            env=compiler_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolchainError(f"cannot be started: {error}") from None
    with waiting_for(shlex.join([*command, option])):
        outputs = _communicate(process, option)
    printed, complaint = (text.decode(errors="replace").strip() for text in outputs)
    if process.returncode:
        said = complaint or "it says nothing else; is it a compiler?"
        raise ToolchainError(f"{option} fails with exit status {process.returncode}: {said}")
    if not printed:
        raise ToolchainError(f"{option} prints nothing, as no compiler does")
    return printed


def _communicate(process: subprocess.Popen[bytes], option: str) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=PATIENCE)
    except BaseException as error:
        kill(process)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise ToolchainError(f"{option} has no answer after {PATIENCE:g} s; it was stopped") from None
        raise
