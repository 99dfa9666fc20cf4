"""Shared locks, also where the file system has none."""

from __future__ import annotations

import errno
import fcntl
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grid_store.advisory
from grid_store import Key, Store
from grid_store.advisory import share, take_alone

Produce = Callable[[Path], dict[str, Any]]


def test_sharers_keep_everyone_from_having_it_alone(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as first, (tmp_path / "a").open() as second, (tmp_path / "a").open() as third:
        share(first.fileno())
        share(second.fileno())
        assert not take_alone(third.fileno())
        first.close()
        assert not take_alone(third.fileno())
        second.close()
        assert take_alone(third.fileno())


def _flock_that_fails(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, "flock failed")

    names = {"LOCK_SH": fcntl.LOCK_SH, "LOCK_EX": fcntl.LOCK_EX, "LOCK_NB": fcntl.LOCK_NB}
    monkeypatch.setattr(grid_store.advisory, "fcntl", types.SimpleNamespace(flock=fail, **names))


def test_without_locks_builds_go_on_and_nothing_is_collected(
    store: Store, key: Key, produce: Produce, age: Callable[[str, float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    _flock_that_fails(monkeypatch, errno.ENOLCK)
    entry = store.obtain(key, produce)
    age(key.digest, 86400)
    with store.lease(key.digest):
        pass
    assert store.gc(execute=True)["entries_removed"] == []
    assert entry.directory.exists()


def test_other_failures_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _flock_that_fails(monkeypatch, errno.EIO)
    with (tmp_path / "a").open("w") as stream, pytest.raises(OSError, match="flock failed"):
        share(stream.fileno())
