"""Nothing from a store is used before its size and its digest held."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grid_store.entry
from grid_store import CorruptEntryError, Key, Store, UnsafeStoreError

Produce = Callable[[Path], dict[str, Any]]


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[5] ^= 1
    mode = path.stat().st_mode
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(mode)


def test_files_are_sealed(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    assert {path.stat().st_mode & 0o777 for path in map(entry.path, entry.files)} == {0o444}


def test_a_flipped_byte_is_caught_before_the_file_is_used(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    _flip(entry.path("robot.so"))
    fresh = store.get(key.digest)
    assert fresh is not None
    with pytest.raises(CorruptEntryError, match="is not the file that was stored: build it again"):
        fresh.verified("robot.so")
    assert fresh.verified("include/robot.h")
    assert store.get(key.digest, verify=True) is None
    healed = store.obtain(key, produce)
    assert healed.verified("robot.so").read_bytes() == b"content of the library"
    assert store.get(key.digest, verify=True) == healed
    assert [path.name.partition(".")[0] for path in (store.root / "v1" / "quarantine").iterdir()] == [key.digest]


def test_a_damaged_entry_is_discarded_and_built_again(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    assert not store.discard(key.digest), "it holds"
    _flip(entry.path("robot.so"))
    assert store.discard(key.digest)
    assert store.get(key.digest) is None
    assert not store.discard(key.digest), "it is gone"
    assert [path.name.partition(".")[0] for path in (store.root / "v1" / "quarantine").iterdir()] == [key.digest]
    assert store.obtain(key, produce).verified("robot.so").read_bytes() == b"content of the library"


def test_what_is_rebuilt_anyway_is_reported_once_without_advice(
    store: Store, key: Key, produce: Produce, caplog: pytest.LogCaptureFixture
) -> None:
    path = store.obtain(key, produce).path("robot.so")
    path.chmod(0o600)
    os.truncate(path, 4)
    assert store.get(key.digest) is None
    assert store.obtain(key, produce).verified("robot.so")
    assert [record.getMessage() for record in caplog.records] == [
        f"entry {key.digest[:12]} is damaged and counts as missing: {path} has 4 bytes instead of 22"
    ]


def test_a_file_cut_after_the_entry_was_opened_is_caught(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    entry.path("robot.so").chmod(0o600)
    os.truncate(entry.path("robot.so"), 4)
    with pytest.raises(CorruptEntryError):
        entry.verified("robot.so")


def test_a_file_is_hashed_once_per_process_unless_it_changes(
    store: Store, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, hashed = store.obtain(key, produce), []
    real = grid_store.entry.stream_digest
    monkeypatch.setattr(grid_store.entry, "stream_digest", lambda stream: hashed.append(1) or real(stream))
    for _ in range(3):
        entry.verified("robot.so")
    assert len(hashed) == 1
    _flip(entry.path("robot.so"))
    with pytest.raises(CorruptEntryError):
        entry.verified("robot.so")


def test_a_file_that_went_missing_is_named(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    entry.path("robot.so").unlink()
    with pytest.raises(CorruptEntryError, match=r"robot\.so cannot be read"):
        entry.verified("robot.so")


@pytest.mark.parametrize("where", [".", "..", "robot.so", "record.json"])
def test_a_symlink_in_place_of_an_entry_is_refused(store: Store, key: Key, produce: Produce, where: str) -> None:
    path = Path(os.path.normpath(store.obtain(key, produce).directory / where))
    path.rename(store.root / "elsewhere")
    path.symlink_to(store.root / "elsewhere")
    with pytest.raises(UnsafeStoreError, match="symbolic link"):
        store.get(key.digest)


def test_a_symlink_that_appears_later_is_refused_as_well(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    entry.path("robot.so").rename(store.root / "elsewhere")
    (entry.directory / "robot.so").symlink_to(store.root / "elsewhere")
    with pytest.raises(UnsafeStoreError, match="symbolic link"):
        entry.verified("robot.so")


def test_reading_notes_the_time_of_use(
    store: Store, key: Key, produce: Produce, age: Callable[[str, float], None]
) -> None:
    record = store.obtain(key, produce).directory / "record.json"
    for seconds in (7200.0, -86400.0):
        age(key.digest, seconds)
        assert store.get(key.digest)
        assert abs(record.stat().st_mtime - time.time()) < 60


def test_a_failed_note_of_use_is_no_error(
    store: Store, key: Key, produce: Produce, age: Callable[[str, float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    store.obtain(key, produce)
    age(key.digest, 7200)
    monkeypatch.setattr(os, "utime", refuse)
    assert store.get(key.digest)


def test_a_stale_handle_is_opened_again(
    store: Store, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.obtain(key, produce)
    real, failures = os.open, [OSError(errno.ESTALE, "stale")] * 2

    def flaky(path: Any, flags: int, *more: Any, **names: Any) -> int:
        if failures:
            raise failures.pop()
        return real(path, flags, *more, **names)

    monkeypatch.setattr(os, "open", flaky)
    assert store.get(key.digest)
    failures.extend([OSError(errno.ESTALE, "stale")] * 3)
    assert store.get(key.digest) is None
