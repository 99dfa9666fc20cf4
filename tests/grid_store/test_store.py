"""The life of an entry: built once, found again, described, replaced, listed."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_store import Key, KeyComponentError, PublishError, Store, StoreError
from grid_store.sealed import seal_text, unseal

Produce = Callable[[Path], dict[str, Any]]


def test_a_new_store_touches_nothing(store: Store, key: Key) -> None:
    assert store.get(key.digest) is None
    assert list(store.entries()) == []
    assert store.names() == []
    assert store.lookup(key.digest) is None
    assert store.gc()["entries_kept"] == 0
    assert not store.root.exists()


def test_importing_and_constructing_touch_no_path(run: Callable[..., str], tmp_path: Path) -> None:
    run("Store()", GRID_RBD_CACHE_DIR=str(tmp_path / "cache"), HOME=str(tmp_path / "home"))
    assert list(tmp_path.iterdir()) == []


def test_obtain_builds_once(store: Store, key: Key, produce: Produce, never: Produce) -> None:
    entry = store.obtain(key, produce)
    assert store.obtain(key, never) == store.get(key.digest) == entry
    assert entry.meta == {"nq": 7, "names": ["a", "b"]}
    assert entry.components == key.components
    assert sorted(entry.files) == ["include/robot.h", "robot.so"]
    assert entry.path("include/robot.h").read_text() == "int x;\n"
    assert entry.verified("robot.so").read_bytes() == b"content of the library"
    assert entry.size == 29
    assert abs(entry.created - time.time()) < 60


def test_an_unknown_file_is_named_with_its_neighbours(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    with pytest.raises(StoreError, match=r"no file 'robot\.s'; did you mean 'robot\.so'"):
        entry.path("robot.s")
    with pytest.raises(StoreError, match=r"it has include/robot\.h, robot\.so"):
        entry.verified("zzz")


@pytest.mark.parametrize("key", ["../../../etc", "", "A" * 64, "0" * 63])
def test_a_key_is_a_digest(store: Store, key: str) -> None:
    store.bind("x", {})
    with pytest.raises(KeyComponentError, match="64 hexadecimal"):
        store.get(key)


def test_force_builds_again_and_keeps_the_old_one_in_quarantine(store: Store, key: Key, produce: Produce) -> None:
    def other(directory: Path) -> dict[str, Any]:
        (directory / "robot.so").write_bytes(b"new")
        return {"new": True}

    store.obtain(key, produce)
    entry = store.obtain(key, other, force=True)
    assert entry.meta == {"new": True}
    assert store.get(key.digest) == entry
    assert entry.verified("robot.so").read_bytes() == b"new"
    assert len(list((store.root / "v1" / "quarantine").iterdir())) == 1


def test_a_failing_producer_publishes_nothing(
    store: Store, key: Key, produce: Produce, leftovers: Callable[[], list[Path]]
) -> None:
    def fail(directory: Path) -> dict[str, Any]:
        produce(directory)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.obtain(key, fail)
    assert store.get(key.digest) is None
    assert list(store.entries()) == []
    assert leftovers() == []
    assert store.obtain(key, produce).meta["nq"] == 7


def test_entries_are_listed_without_staging_and_damaged_ones(
    store: Store, key: Key, produce: Produce, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def look(directory: Path) -> dict[str, Any]:
        seen.extend(entry.key for entry in store.entries())
        return produce(directory)

    first = store.obtain(Key({"n": 1}), produce)
    store.obtain(key, look)
    assert seen == [first.key]
    assert {entry.key for entry in store.entries()} == {first.key, key.digest}
    (first.directory / "record.json").write_text("{")
    assert [entry.key for entry in store.entries()] == [key.digest]
    assert "counts as missing" in caplog.text


def test_records_hold_no_absolute_path_so_a_store_can_move(
    store: Store, key: Key, produce: Produce, never: Produce
) -> None:
    store.obtain(key, produce)
    store.record(Key({"input": 1}), key.digest)
    store.bind("robot", {"content": key.digest})
    for path in store.root.rglob("*.json"):
        assert str(store.root) not in path.read_text()
    moved = Store(store.root.with_name("moved"), strict=True)
    store.root.rename(moved.root)
    assert moved.obtain(key, never).verified("robot.so").is_relative_to(moved.root)
    assert moved.resolve("robot") == {"content": key.digest}
    assert store.get(key.digest) is None


def test_a_root_may_be_reached_through_a_symlink(store: Store, key: Key, produce: Produce, never: Produce) -> None:
    store.root.mkdir()
    link = store.root.with_name("link")
    link.symlink_to(store.root)
    through = Store(link, strict=True)
    entry = through.obtain(key, produce)
    assert entry.verified("robot.so").is_relative_to(link)
    assert store.obtain(key, never).directory.is_relative_to(store.root)


def test_a_warm_read_is_fast_and_takes_no_lock(
    store: Store, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.obtain(key, produce)
    shutil.rmtree(store.root / "v1" / "locks")
    times = []
    for _ in range(200):
        begin = time.perf_counter()
        assert store.get(key.digest)
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.5e-3
    assert not (store.root / "v1" / "locks").exists()


def test_damage_makes_obtain_build_again(store: Store, key: Key, produce: Produce) -> None:
    def cut(path: Path) -> None:
        path.chmod(0o600)
        os.truncate(path, 3)

    damages: list[Callable[[Path], None]] = [
        lambda entry: cut(entry / "robot.so"),
        lambda entry: (entry / "robot.so").unlink(),
        lambda entry: (entry / "record.json").unlink(),
        lambda entry: os.truncate(entry / "record.json", 0),
        lambda entry: cut(entry / "record.json"),
        lambda entry: (entry / "record.json").write_text(json.dumps({"schema": 99, "key": key.digest})),
        lambda entry: (entry / "record.json").write_text("[]"),
    ]
    for damage in damages:
        damage(store.obtain(key, produce).directory)
        assert store.get(key.digest) is None
        assert store.obtain(key, produce).verified("robot.so").read_bytes() == b"content of the library"


def test_a_record_under_the_wrong_key_is_not_an_entry(store: Store, key: Key, produce: Produce) -> None:
    entry, other = store.obtain(key, produce), Key({"other": 1}).digest
    (store.root / "v1" / "objects" / other[:2]).mkdir(exist_ok=True)
    shutil.copytree(entry.directory, store.root / "v1" / "objects" / other[:2] / other)
    assert store.get(other) is None


def test_a_record_cannot_reach_outside(store: Store, key: Key, produce: Produce) -> None:
    path = store.obtain(key, produce).directory / "record.json"
    record = unseal(path.read_bytes())
    for name in ("../../../../secret", "/etc/passwd", "a/../b", "./robot.so"):
        path.write_bytes(seal_text({**record, "files": {name: {"size": 1, "sha256": "0" * 64}}}, "a record"))
        assert store.get(key.digest) is None


def test_inputs_that_change_during_the_build_publish_nothing(store: Store, produce: Produce, tmp_path: Path) -> None:
    source = tmp_path / "source.cpp"
    source.write_text("int a;")

    def edit(directory: Path) -> dict[str, Any]:
        source.write_text("int b;")
        return produce(directory)

    key = Key({"source": source})
    with pytest.raises(PublishError, match=r"source\.cpp changed"):
        store.obtain(key, edit)
    assert store.get(key.digest) is None


def test_the_root_comes_from_argument_then_environment_then_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("GRID_RBD_CACHE_DIR", raising=False)
    assert Store().root == tmp_path / "xdg" / "grid-rbd"
    monkeypatch.setenv("GRID_RBD_CACHE_DIR", str(tmp_path / "variable"))
    assert Store().root == tmp_path / "variable"
    assert Store(tmp_path / "argument").root == tmp_path / "argument"
    monkeypatch.chdir(tmp_path)
    assert Store("relative").root == tmp_path / "relative"
    assert list(tmp_path.iterdir()) == []


def test_the_root_is_marked_as_a_cache(store: Store, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    assert (store.root / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n")
    assert sorted(path.name for path in (store.root / "v1").iterdir()) == sorted(
        ["objects", "actions", "names", "consumers", "leases", "locks", "tmp", "quarantine"]
    )


def test_an_empty_root_is_no_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRID_RBD_CACHE_DIR", str(tmp_path))
    assert Store("").root == tmp_path
