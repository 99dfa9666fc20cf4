"""Leases: a process that uses an entry keeps a shared lock on the lease file of its key.

The kernel ends a lease with its process, so neither a crash nor a reused process id nor the clock can make one wrong.
The garbage collection removes an entry only while nobody can take a lease in its shard and nobody holds one on it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from weakref import WeakValueDictionary

from grid_store.advisory import share, take_alone, wait_alone
from grid_store.layout import Layout
from grid_store.modes import Modes, ensure_directory

_GATE = "gate"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Held:
    """A lease file that this process holds locked, once for all of its leases on an entry."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def share(self) -> None:
        """Lock the file together with other processes."""
        share(self._descriptor)

    def is_at(self, path: Path) -> bool:
        """Tell whether the file is still the one at ``path``, which a removed store leaves to another."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), path.stat())
        except FileNotFoundError:
            return False

    def __del__(self) -> None:
        os.close(self._descriptor)


_held: WeakValueDictionary[Path, Held] = WeakValueDictionary()


class Lease:
    """The promise that an entry stays; ends with :meth:`release`, the ``with`` block or the process."""

    def __init__(self, key: str, held: Held | None) -> None:
        self.key = key
        self._held = held

    def release(self) -> None:
        """End the lease; a second call does nothing."""
        self._held = None

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def take_lease(layout: Layout, key: str, modes: Modes) -> Lease:
    """Return a lease on ``key``; waits only while the garbage collection is removing an entry of the same shard."""
    path = layout.lease(key)
    held = _held.get(path)
    if held is None or not held.is_at(path):  # of threads that come here at once each holds the file for itself
        held = _held[path] = _hold(path, modes)
    return Lease(key, held)


def _hold(path: Path, modes: Modes) -> Held:
    gate = _open_gate(path.parent, modes)
    try:
        share(gate)
        held = Held(_open(path, modes))
        held.share()
        return held
    finally:
        os.close(gate)


@contextlib.contextmanager
def unleased(layout: Layout, key: str, modes: Modes) -> Iterator[bool]:
    """Tell whether nobody holds a lease on ``key``; while the block runs, nobody can take one.

    Most entries have no lease file, and none is made for this: the gate of the shard is shut meanwhile.
    """
    path = layout.lease(key)
    gate = _open_gate(path.parent, modes)
    try:
        yield wait_alone(gate) and not _is_held(path, os.O_RDWR)
    finally:
        os.close(gate)


def is_leased(layout: Layout, key: str) -> bool:
    """Return whether a living process holds, or may hold, a lease on ``key``; creates nothing."""
    return _is_held(layout.lease(key), os.O_RDONLY)


def _is_held(path: Path, access: int) -> bool:
    try:
        descriptor = os.open(path, access | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except PermissionError:
        return True
    try:
        return not take_alone(descriptor)
    finally:
        os.close(descriptor)


def _open_gate(shard: Path, modes: Modes) -> int:
    """Open the file that whoever takes a lease in a shard holds together, and a collection alone."""
    try:
        return _open(shard / _GATE, modes)
    except FileNotFoundError:
        ensure_directory(shard, modes)
        return _open(shard / _GATE, modes)


def _open(path: Path, modes: Modes) -> int:
    descriptor = os.open(path, _FLAGS, modes.file)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != modes.file:
        with contextlib.suppress(PermissionError):
            os.fchmod(descriptor, modes.file)
    return descriptor
