"""Reading everything: whatever is damaged is found, set aside, and built again when it is asked for."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_store import CorruptEntryError, Finding, Key, Store
from grid_store.layout import Layout

Produce = Callable[[Path], dict[str, Any]]


def _overwrite(path: Path, content: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(content)
    path.chmod(0o444)


def _flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    _overwrite(path, bytes(content))


def _kinds(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.kind, finding.item) for finding in findings]


def test_a_whole_store_has_no_findings(store: Store, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    store.record(Key({"input": 1}), key.digest)
    store.bind("robot", {"content": key.digest})
    assert store.verify() == []
    assert store.repair() == []
    assert store.get(key.digest, verify=True)


def test_a_store_that_is_not_there_is_whole(store: Store) -> None:
    assert store.verify() == []
    assert not store.root.exists()


def test_a_byte_flipped_anywhere_in_an_entry_is_found_and_never_served(
    store: Store, key: Key, produce: Produce
) -> None:
    entry = store.obtain(key, produce)
    files = [entry.directory / "record.json", *(entry.path(name) for name in entry.files)]
    for path in files:
        for at in range(0, path.stat().st_size, 7):
            _flip(path, at)
            assert _kinds(store.verify()) == [("entry", key.digest)], (path, at)
            assert store.get(key.digest, verify=True) is None
            _flip(path, at)
    assert store.get(key.digest, verify=True)
    assert store.verify() == []


def test_what_this_process_has_read_before_is_read_again(
    store: Store, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = store.obtain(key, produce)
    assert entry.verified("robot.so")
    path = entry.path("robot.so")
    known = path.stat()
    _flip(path, 3)
    monkeypatch.setattr("grid_store.entry.os.fstat", lambda _: known)
    assert entry.verified("robot.so"), "times and sizes are as before, so a disk that rots goes unseen here"
    assert _kinds(store.verify()) == [("entry", key.digest)]


def test_files_that_no_record_names_are_found(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    (entry.directory / "include" / "more.h").touch()
    (finding,) = store.verify()
    assert "holds include/more.h, which its record does not name" in finding.problem


def test_repair_sets_aside_and_the_next_build_restores(
    store: Store, layout: Layout, key: Key, produce: Produce
) -> None:
    entry = store.obtain(key, produce)
    whole = store.obtain(Key({"other": 1}), produce)
    store.record(request := Key({"input": 1}), key.digest)
    store.bind("robot", {"content": key.digest})
    store.bind("arm/left", {"content": whole.key})
    (layout.area("consumers") / "planner").mkdir()
    manifest = layout.area("consumers") / "planner" / "arm.json"
    manifest.write_text("{")
    _flip(entry.path("robot.so"), 0)
    _overwrite(layout.action(request.digest), b"{}")
    _overwrite(layout.name("arm/left"), b'{"content')
    found = store.repair()
    assert _kinds(found) == [
        ("entry", key.digest),
        ("action", request.digest),
        ("consumer", "planner/arm.json"),
        ("name", "arm/left"),
    ]
    assert store.verify() == []
    assert store.names() == ["robot"]
    assert store.get(key.digest) is None
    assert store.lookup(request.digest) is None
    assert len(list(layout.area("quarantine").iterdir())) == 4
    assert store.obtain(key, produce).verified("robot.so")


@pytest.mark.parametrize("text", ["", "[1]", "null", "3", "[" * 100_000, '{"a":' * 100_000])
def test_records_that_are_no_objects_are_found_and_set_aside(store: Store, layout: Layout, text: str) -> None:
    store.bind("arm", {})
    request = Key({"input": 1})
    store.record(request, Key({"content": 1}).digest)
    for path in (layout.name("arm"), layout.action(request.digest)):
        _overwrite(path, text.encode())
    with pytest.raises(CorruptEntryError, match=r"arm\.json is broken"):
        store.gc()
    assert _kinds(store.repair()) == [("action", request.digest), ("name", "arm")]
    assert store.verify() == []
    assert store.gc(execute=True)["reasons"] == {}


def test_roots_may_be_nested_deeply(store: Store, key: Key, produce: Produce) -> None:
    record: Any = store.obtain(key, produce).key
    for _ in range(300):
        record = {"in": [record]}
    store.bind("arm", record)
    assert store.roots()[0].keys == {key.digest}


def test_an_entry_without_record_and_a_link_are_found(store: Store, layout: Layout, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    (entry.directory / "record.json").unlink()
    linked = Key({"linked": 1}).digest
    layout.object(linked).parent.mkdir(exist_ok=True)
    layout.object(linked).symlink_to(layout.root)
    assert {finding.item for finding in store.repair()} == {key.digest, linked}
    assert store.verify() == []
    assert layout.root.exists()


def test_random_loss_is_restored_or_forgotten(store: Store, produce: Produce) -> None:
    keys = [Key({"n": n}) for n in range(30)]
    for key in keys:
        store.obtain(key, produce)
        store.record(Key({"input": key.digest}), key.digest)
    files = sorted(path for path in (store.root / "v1").rglob("*") if path.is_file() and "locks" not in path.parts)
    for path in random.Random(0).sample(files, len(files) // 10):
        path.unlink()
    lost = {finding.item for finding in store.repair()}
    assert store.verify() == []
    assert 0 < len(lost) < len(keys)
    for key in keys:
        assert (store.get(key.digest, verify=True) is None) == (key.digest in lost)
        entry = store.obtain(key, produce)
        assert all(entry.verified(name) for name in entry.files)
