"""Leases end with their process, and only collection cares about them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_store import EntryMissingError, Key, Store
from grid_store.layout import Layout
from grid_store.lease import is_leased, unleased
from grid_store.modes import PRIVATE

Produce = Callable[[Path], dict[str, Any]]
Start = Callable[..., "subprocess.Popen[str]"]


def test_a_lease_lasts_until_the_last_one_ends(store: Store, layout: Layout, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    assert not is_leased(layout, key.digest)
    with store.lease(key.digest) as first:
        second = store.lease(key.digest)
        first.release()
        assert is_leased(layout, key.digest)
        second.release()
        second.release()
        assert not is_leased(layout, key.digest)


def test_a_forgotten_lease_ends_with_its_object(store: Store, layout: Layout, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    lease = store.lease(key.digest)
    assert is_leased(layout, key.digest)
    del lease
    assert not is_leased(layout, key.digest)


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_leases_of_a_process_on_an_entry_share_a_file(store: Store, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    first = store.lease(key.digest)
    before = _open_files()
    more = [store.lease(key.digest) for _ in range(100)]
    assert _open_files() == before
    del first, more
    assert _open_files() == before - 1


def test_a_store_that_was_made_anew_is_leased_anew(store: Store, layout: Layout, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    with store.lease(key.digest):
        shutil.rmtree(store.root)
        store.obtain(key, produce)
        assert not is_leased(layout, key.digest)
        with store.lease(key.digest):
            assert is_leased(layout, key.digest)


def test_a_killed_process_holds_nothing(store: Store, layout: Layout, key: Key, produce: Produce, start: Start) -> None:
    store.obtain(key, produce)
    process = start(
        "lease = Store(sys.argv[1]).lease(sys.argv[2]); print('held', flush=True); input()", store.root, key.digest
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    assert is_leased(layout, key.digest)
    process.kill()
    process.wait()
    assert not is_leased(layout, key.digest)


def test_what_is_gone_cannot_be_leased(store: Store, layout: Layout, key: Key) -> None:
    with pytest.raises(EntryMissingError, match="obtain it again"):
        store.lease(key.digest)
    assert not is_leased(layout, key.digest)


def test_while_a_collection_looks_nobody_can_take_a_lease(
    store: Store, layout: Layout, key: Key, produce: Produce, start: Start
) -> None:
    store.obtain(key, produce)
    with unleased(layout, key.digest, PRIVATE) as alone:
        assert alone
        assert not layout.lease(key.digest).exists(), "looking leaves no file"
        script = "lease = Store(sys.argv[1]).lease(sys.argv[2]); print('held', flush=True); input()"
        process = start(script, store.root, key.digest)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.6)
        assert not is_leased(layout, key.digest)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with unleased(layout, key.digest, PRIVATE) as alone:
        assert not alone


def test_what_a_collection_removed_cannot_be_leased_by_who_waited(
    store: Store, layout: Layout, key: Key, produce: Produce, start: Start
) -> None:
    entry = store.obtain(key, produce)
    store.lease(key.digest).release()
    with unleased(layout, key.digest, PRIVATE) as alone:
        assert alone
        process = start("Store(sys.argv[1]).lease(sys.argv[2])", store.root, key.digest)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.6)
        shutil.rmtree(entry.directory)
        layout.lease(key.digest).unlink()
    assert "EntryMissingError" in process.communicate(timeout=30)[1]
