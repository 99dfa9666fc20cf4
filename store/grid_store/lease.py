"""Leases: a process that uses an entry keeps a shared lock on the lease file of its key.

The kernel ends a lease with its process, so neither a crash nor a reused process id nor the clock can make one wrong.
The garbage collection removes an entry only while it holds the same file exclusively.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from grid_store.advisory import share, take_alone
from grid_store.layout import Layout
from grid_store.modes import Modes, ensure_directory

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Lease:
    """The promise that an entry stays; ends with :meth:`release`, the ``with`` block or the process."""

    def __init__(self, key: str, descriptor: int | None) -> None:
        self.key = key
        self._descriptor = descriptor

    def release(self) -> None:
        """End the lease; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def take_lease(layout: Layout, key: str, modes: Modes) -> Lease:
    """Return a lease on ``key``; waits only while the garbage collection is removing that very entry."""
    path = layout.lease(key)
    ensure_directory(path.parent, modes)
    while True:
        descriptor = os.open(path, _FLAGS, modes.file)
        with contextlib.suppress(PermissionError):
            os.fchmod(descriptor, modes.file)
        share(descriptor)
        if _is_at(path, descriptor):
            return Lease(key, descriptor)
        os.close(descriptor)


@contextlib.contextmanager
def unleased(layout: Layout, key: str, modes: Modes) -> Iterator[bool]:
    """Tell whether nobody holds a lease on ``key``; while the block runs, nobody can take one."""
    path = layout.lease(key)
    try:
        descriptor = os.open(path, _FLAGS, modes.file)
    except FileNotFoundError:
        ensure_directory(path.parent, modes)
        descriptor = os.open(path, _FLAGS, modes.file)
    try:
        yield take_alone(descriptor)
    finally:
        os.close(descriptor)


def is_leased(layout: Layout, key: str) -> bool:
    """Return whether a living process holds, or may hold, a lease on ``key``; creates nothing."""
    try:
        descriptor = os.open(layout.lease(key), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except PermissionError:
        return True
    try:
        return not take_alone(descriptor)
    finally:
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
