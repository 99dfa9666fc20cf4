"""Collection on a real store: what goes, what stays, and what the report says."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grid_store.gc
from grid_store import CorruptEntryError, Entry, Key, Store
from grid_store.layout import Layout
from grid_store.modes import PRIVATE
from grid_store.publish import quarantine
from grid_store.staging import Trash, staging

Produce = Callable[[Path], dict[str, Any]]
Age = Callable[[str, float], None]
Start = Callable[..., "subprocess.Popen[str]"]
FIELDS = [
    *("cache_dir", "executed", "entries_kept", "entries_removed", "entries_bytes", "pointers_removed"),
    *("staging_removed", "objects_removed", "objects_bytes", "reasons"),
]


@pytest.fixture
def old(store: Store, produce: Produce, age: Age) -> Callable[..., Entry]:
    """Build an entry that nobody used for a day."""

    def build(label: str, meta: dict[str, Any] | None = None) -> Entry:
        entry = store.obtain(Key({"label": label}), lambda directory: {**produce(directory), **(meta or {})})
        age(entry.key, 86400)
        return entry

    return build


def _disk(entry: Entry) -> int:
    return entry.size + (entry.directory / "record.json").stat().st_size


def test_the_default_only_reports(store: Store, old: Callable[..., Entry]) -> None:
    entry = old("unused")
    store.record(Key({"input": 1}), entry.key)
    report = store.gc()
    assert list(report) == FIELDS
    assert report == {
        "cache_dir": str(store.root),
        "executed": False,
        "entries_kept": 0,
        "entries_removed": [entry.key],
        "entries_bytes": _disk(entry),
        "pointers_removed": 1,
        "staging_removed": 0,
        "objects_removed": 0,
        "objects_bytes": 0,
        "reasons": {entry.key: "no name and no consumer mentions it; last used 1.0 days ago"},
    }
    assert entry.directory.exists()
    assert store.lookup(Key({"input": 1}).digest)
    assert store.gc(execute=True) == {**report, "executed": True}
    assert not entry.directory.exists()
    assert store.lookup(Key({"input": 1}).digest) is None
    assert store.gc(execute=True)["entries_removed"] == []


def test_named_consumed_leased_and_young_entries_stay(
    store: Store, layout: Layout, old: Callable[..., Entry], produce: Produce
) -> None:
    named, requested, consumed, leased, unused = map(old, ("named", "requested", "consumed", "leased", "unused"))
    young = store.obtain(Key({"label": "young"}), produce)
    store.bind("robot", {"variants": [{"float32": named.key}]})
    request = Key({"input": 1})
    store.record(request, requested.key)
    store.bind("by request", {"input": request.digest})
    (layout.area("consumers") / "planner").mkdir()
    (layout.area("consumers") / "planner" / "robot.json").write_text(f'{{"{consumed.key}": 1}}')
    with store.lease(leased.key):
        report = store.gc(execute=True, max_bytes=0)
    assert report["entries_removed"] == [unused.key]
    assert report["entries_kept"] == 5
    assert {entry.key for entry in store.entries()} == {e.key for e in (named, requested, consumed, leased, young)}
    store.unbind("robot")
    assert set(store.gc()["entries_removed"]) == {named.key, leased.key}


def test_an_unbound_entry_goes_once_it_is_old(store: Store, old: Callable[..., Entry]) -> None:
    entry = old("robot")
    store.bind("robot", {"content": entry.key})
    assert store.gc(execute=True)["entries_removed"] == []
    store.unbind("robot")
    assert store.gc(execute=True)["entries_removed"] == [entry.key]


def test_objects_go_by_age_when_asked(store: Store, old: Callable[..., Entry]) -> None:
    entry = old("object", {"kind": "object"})
    size = _disk(entry)
    assert store.gc(execute=True)["objects_removed"] == 0
    assert store.gc(execute=True, objects_days=2)["objects_removed"] == 0
    report = store.gc(execute=True, objects_days=0.5)
    assert (report["objects_removed"], report["objects_bytes"]) == (1, size)
    assert report["entries_removed"] == []
    assert entry.key in report["reasons"]


def test_the_size_limit_is_held_by_the_least_recently_used(store: Store, old: Callable[..., Entry], age: Age) -> None:
    entries = [old(str(n)) for n in range(10)]
    for n, entry in enumerate(entries):
        age(entry.key, 1000.0 * n)
    limit = sum(map(_disk, entries[:6]))
    report = store.gc(execute=True, max_bytes=limit)
    assert set(report["entries_removed"]) == {entry.key for entry in entries[6:]}
    assert sum(map(_disk, store.entries())) == limit


@pytest.mark.parametrize("share", [0.9, 0.5, 0.15])
def test_the_size_of_the_whole_store_is_held_within_five_per_cent(store: Store, age: Age, share: float) -> None:
    def write(folder: Path) -> dict[str, Any]:
        (folder / "robot.so").write_bytes(b"x" * rng.randrange(500, 3000))
        return {}

    rng = random.Random(2)
    for n in range(120):
        entry = store.obtain(Key({"n": n}), write)
        store.record(Key({"input": n}), entry.key)
        age(entry.key, 86400.0 + rng.randrange(86400))
        if n % 40 == 0:
            store.bind(f"robot {n}", {"content": entry.key})
            store.obtain(Key({"n": n}), write, force=True)
    limit = int(share * _whole_size(store))
    store.gc(execute=True, max_bytes=limit)
    assert 0.95 * limit <= _whole_size(store) <= limit
    assert len(store.names()) == 3
    assert store.verify() == []


def _whole_size(store: Store) -> int:
    areas = store.usage()
    return sum(usage.bytes for area, usage in areas.items() if area not in ("locks", "leases"))


def test_a_minimum_age_keeps_what_was_used(store: Store, old: Callable[..., Entry]) -> None:
    entry = old("a day ago")
    assert store.gc(execute=True, minimum_age=2 * 86400.0, max_bytes=0)["entries_removed"] == []
    assert store.gc(execute=True, minimum_age=0.5 * 86400.0)["entries_removed"] == [entry.key]


def test_what_is_damaged_counts_against_the_limit(store: Store, old: Callable[..., Entry], produce: Produce) -> None:
    kept, gone = old("kept"), old("gone")
    store.bind("robot", {"content": kept.key})
    total = _whole_size(store)
    assert store.gc(max_bytes=total)["entries_removed"] == []
    store.obtain(Key({"label": "kept"}), produce, force=True)
    assert store.gc(max_bytes=total)["entries_removed"] == [gone.key], "the old copy is in quarantine"


def test_a_broken_root_stops_the_collection(store: Store, layout: Layout, old: Callable[..., Entry]) -> None:
    entry = old("robot")
    store.bind("robot", {"content": entry.key})
    layout.name("robot").chmod(0o600)
    layout.name("robot").write_text('{"content": "')
    with pytest.raises(CorruptEntryError, match=r"robot\.json is broken .* register it again\) or remove the file"):
        store.gc(execute=True)
    assert entry.directory.exists()
    store.bind("robot", {"content": entry.key})
    assert store.gc(execute=True)["entries_removed"] == []


def test_an_unreadable_entry_goes_once_it_is_old(
    store: Store, old: Callable[..., Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = old("robot")
    (entry.directory / "record.json").unlink()
    assert store.gc(execute=True)["entries_removed"] == []
    tomorrow = time.time() + 86400
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    assert store.gc(execute=True)["entries_removed"] == [entry.key]


def test_dangling_and_broken_pointers_go(store: Store, layout: Layout, old: Callable[..., Entry]) -> None:
    entry = old("robot")
    store.bind("robot", {"content": entry.key})
    store.record(Key({"input": "alive"}), entry.key)
    store.record(Key({"input": "dangling"}), "0" * 64)
    store.record(broken := Key({"input": "broken"}), entry.key)
    layout.action(broken.digest).chmod(0o600)
    layout.action(broken.digest).write_text("")
    assert store.gc(execute=True)["pointers_removed"] == 2
    assert store.lookup(Key({"input": "alive"}).digest)
    assert store.lookup(Key({"input": "dangling"}).digest) is None


def test_only_staging_of_dead_builds_goes(store: Store, layout: Layout, key: Key, start: Start) -> None:
    store.bind("make the directories", {})
    process = start(
        """
        def stall(directory):
            print("in", flush=True)
            time.sleep(60)
        Store(sys.argv[1]).obtain(Key({"dead": 1}), stall)
        """,
        store.root,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"
    process.kill()
    process.wait()
    with staging(layout, key.digest, PRIVATE) as alive:
        assert store.gc()["staging_removed"] == 1
        assert store.gc(execute=True)["staging_removed"] == 1
        assert list(layout.area("tmp").iterdir()) == [alive.directory]


def test_leftover_files_and_old_quarantine_go(
    store: Store, layout: Layout, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.obtain(key, produce)
    store.obtain(key, produce, force=True)
    store.bind("robot", {"content": key.digest})
    (layout.area("tmp") / "file.0123").touch()
    assert store.gc(execute=True)["staging_removed"] == 0
    later = time.time() + 8 * 86400
    monkeypatch.setattr(time, "time", lambda: later)
    assert store.gc(execute=True)["staging_removed"] == 2
    assert not any(layout.area("tmp").iterdir())
    assert not any(layout.area("quarantine").iterdir())


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_jumps_takes_nothing_in_use(
    store: Store, key: Key, produce: Produce, days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    leased = store.obtain(key, produce)
    named = store.obtain(Key({"named": 1}), produce)
    store.bind("robot", {"content": named.key})
    jumped = time.time() + days * 86400
    monkeypatch.setattr(time, "time", lambda: jumped)
    with store.lease(leased.key):
        assert store.gc(execute=True)["entries_removed"] == []
    assert leased.path("robot.so").exists()
    assert store.get(named.key) == named


def test_an_entry_that_a_build_puts_aside_meanwhile_is_no_error(
    store: Store, layout: Layout, old: Callable[..., Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = sorted(old(name).key for name in ("a", "b"))
    take = Trash.take

    def late(self: Trash, directory: Path) -> None:
        if directory.name == first:
            quarantine(layout, first)
        take(self, directory)

    monkeypatch.setattr(Trash, "take", late)
    assert store.gc(execute=True)["entries_removed"] == [second]
    assert store.gc(execute=True)["entries_removed"] == []


def test_an_entry_taken_into_use_after_the_survey_stays(
    store: Store, old: Callable[..., Entry], age: Age, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, leased = old("read"), old("leased")
    held = []

    def look(_: Layout, key: str) -> bool:
        held.append(store.lease(key)) if key == leased.key else store.get(key)
        return False

    monkeypatch.setattr(grid_store.gc, "is_leased", look)
    assert store.gc(execute=True)["entries_removed"] == []
    assert read.directory.exists()
    assert leased.directory.exists()
