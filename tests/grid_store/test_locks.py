"""One build per key: who waits hears for whom, and who does not share a key never waits."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import grid_store.locks
from grid_store import Key, Store, StoreWriteError, UnsafeStoreError, Wait
from grid_store.layout import Layout
from grid_store.locks import build_lock, holder
from grid_store.modes import PRIVATE

Produce = Callable[[Path], dict[str, Any]]


def test_threads_that_ask_at_once_build_once(store: Store, key: Key, produce: Produce) -> None:
    builds: list[int] = []

    def slow(directory: Path) -> dict[str, Any]:
        builds.append(1)
        time.sleep(0.2)
        return produce(directory)

    with ThreadPoolExecutor(8) as pool:
        entries = list(pool.map(lambda _: store.obtain(key, slow), range(8)))
    assert len(builds) == 1
    assert all(entry == entries[0] for entry in entries)


def test_different_keys_never_wait_for_each_other(store: Store, produce: Produce) -> None:
    together = threading.Barrier(4, timeout=20)

    def meet(directory: Path) -> dict[str, Any]:
        together.wait()
        return produce(directory)

    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(lambda n: store.obtain(Key({"n": n}), meet), range(4)))) == 4


@pytest.mark.parametrize("listens", [True, False])
def test_a_waiter_hears_lock_holder_and_age(
    store: Store,
    layout: Layout,
    key: Key,
    produce: Produce,
    never: Produce,
    listens: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert grid_store.locks._NOTICE_AFTER == 5.0
    monkeypatch.setattr(grid_store.locks, "_NOTICE_AFTER", 0.2)
    building, heard = threading.Event(), threading.Event()
    waits: list[Wait] = []

    def listen(wait: Wait) -> None:
        waits.append(wait)
        heard.set()

    def slow(directory: Path) -> dict[str, Any]:
        building.set()
        if listens:
            heard.wait(20)
        while not (listens or caplog.records):
            time.sleep(0.01)
        return produce(directory)

    with ThreadPoolExecutor(1) as pool, caplog.at_level(logging.WARNING):
        first = pool.submit(store.obtain, key, slow)
        building.wait()
        assert store.obtain(key, never, on_wait=listen if listens else None) == first.result()
    [message] = map(str, waits) if listens else caplog.messages
    assert re.fullmatch(rf"waiting for {layout.lock(key.digest)}, held by process {os.getpid()} for \d+ s", message)
    assert bool(waits) == listens


def test_nobody_signs_for_a_free_lock(store: Store, layout: Layout, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    path = layout.lock(key.digest)
    assert holder(path) == Wait(path, None, None)
    assert str(holder(path)).endswith("held by process unknown")


def test_the_clock_of_the_holder_may_be_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.lock"
    with build_lock(path, PRIVATE):
        monkeypatch.setattr(time, "time", lambda: 0.0)
        assert holder(path) == Wait(path, os.getpid(), 0.0)


def test_a_deleted_sidecar_costs_a_second_build_at_most(
    store: Store, layout: Layout, key: Key, produce: Produce
) -> None:
    building, finish = threading.Event(), threading.Event()

    def slow(directory: Path) -> dict[str, Any]:
        building.set()
        finish.wait(20)
        return produce(directory)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(store.obtain, key, slow)
        building.wait()
        layout.lock(key.digest).unlink()
        second = store.obtain(key, produce)
        finish.set()
        assert first.result() == second == store.get(key.digest)
    assert not any(layout.area("quarantine").iterdir())


@pytest.mark.parametrize("name", ["lock", "shard", "area"])
def test_a_symlink_at_a_lock_is_refused(store: Store, layout: Layout, key: Key, produce: Produce, name: str) -> None:
    store.bind("make the directories", {})
    lock = layout.lock(key.digest)
    path = {"lock": lock, "shard": lock.parent, "area": lock.parent.parent}[name]
    target = store.root / "target"
    if name == "area":
        path.rename(target)
    elif name == "shard":
        target.mkdir()
    else:
        lock.parent.mkdir()
    path.symlink_to(target)
    with pytest.raises(UnsafeStoreError, match="symbolic link"):
        store.obtain(key, produce)
    assert name != "lock" or not target.exists()


def test_a_lock_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.lock").mkdir()
    with pytest.raises(StoreWriteError, match=r"a\.lock cannot be taken"), build_lock(tmp_path / "a.lock", PRIVATE):
        pass
