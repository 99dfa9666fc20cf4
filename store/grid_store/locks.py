"""One build per key: a lock beside the objects that the kernel releases when its holder dies."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grid_store.atomic import decode
from grid_store.errors import StoreWriteError
from grid_store.modes import Modes, refuse_symlink

if TYPE_CHECKING:
    from filelock import BaseFileLock

_log = logging.getLogger("grid_rbd.store")
_NOTICE_AFTER = 5.0
_POLL = 0.05


@dataclass(frozen=True)
class Wait:
    """Why a build does not start yet: who holds the lock, and for how many seconds; ``None`` when nobody told."""

    lock: Path
    pid: int | None
    age: float | None

    def __str__(self) -> str:
        held = f" for {self.age:.0f} s" if self.age is not None else ""
        return f"waiting for {self.lock}, held by process {self.pid or 'unknown'}{held}"


OnWait = Callable[[Wait], None]


@contextlib.contextmanager
def build_lock(path: Path, modes: Modes, on_wait: OnWait | None = None) -> Iterator[None]:
    """Hold the lock at ``path``; after 5 s of waiting ``on_wait`` (default: a warning in the log) hears who has it.

    Raises
    ------
    UnsafeStoreError
        The lock is a symbolic link.
    StoreWriteError
        The lock file cannot be made.
    """
    from filelock import FileLock  # a process that only reads never pays for it

    with contextlib.suppress(FileNotFoundError):
        refuse_symlink(path)
    lock = FileLock(path, mode=modes.file)
    try:
        _acquire(lock, path, on_wait or _warn)
    except OSError as error:
        raise StoreWriteError(f"lock {path} cannot be taken: {error}") from error
    try:
        _sign(path)
        yield
    finally:
        with contextlib.suppress(OSError):
            _signature(path).unlink()
        lock.release()


def _acquire(lock: BaseFileLock, path: Path, on_wait: OnWait) -> None:
    from filelock import Timeout

    try:
        lock.acquire(timeout=_NOTICE_AFTER, poll_interval=_POLL)
    except Timeout:
        on_wait(holder(path))
        lock.acquire(poll_interval=_POLL)


def holder(lock: Path) -> Wait:
    """Return who signed for ``lock``."""
    try:
        signed = decode(_signature(lock).read_bytes())
        return Wait(lock, int(signed["pid"]), max(0.0, time.time() - float(signed["since"])))
    except (OSError, ValueError, KeyError, TypeError):
        return Wait(lock, None, None)


def _warn(wait: Wait) -> None:
    _log.warning("%s", wait)


def _signature(lock: Path) -> Path:
    return lock.with_suffix(".holder")


def _sign(lock: Path) -> None:
    """Write who holds ``lock``; only a courtesy, so a failure does not matter."""
    with contextlib.suppress(OSError):
        _signature(lock).unlink(missing_ok=True)
        with _signature(lock).open("x", encoding="ascii") as stream:
            json.dump({"pid": os.getpid(), "since": time.time()}, stream)
