"""Disks that are full or fail, and processes that may open few files: an error, never half an entry."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_store import Key, Store, StoreError, StoreWriteError
from grid_store.errors import GridError

Produce = Callable[[Path], dict[str, Any]]
Run = Callable[..., str]


def _work(store: Store, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    store.record(Key({"input": 1}), key.digest)
    store.bind("robot", {"content": key.digest})


def _check_whole(store: Store, key: Key) -> None:
    """Whatever can be seen is complete."""
    for entry in store.entries():
        assert all(entry.verified(name) for name in entry.files)
    if (action := store.lookup(Key({"input": 1}).digest)) or store.names():
        assert action is None or action.content == key.digest
        assert store.get(key.digest)


@pytest.mark.parametrize("resource", ["size", "nr_inodes"])
def test_a_full_disk_at_every_step(mount: Callable[[str], Path], key: Key, produce: Produce, resource: str) -> None:
    refused = 0
    for amount in range(1, 60):
        store = Store(
            mount(f"size={4 * amount}k,nr_inodes=400" if resource == "size" else f"size=1m,nr_inodes={amount}")
        )
        try:
            _work(store, key, produce)
        except (StoreWriteError, OSError) as error:
            refused += 1
            cause = error if isinstance(error, OSError) else error.__cause__
            assert isinstance(cause, OSError)
            assert cause.errno == errno.ENOSPC
            _check_whole(store, key)
            if (staging := store.root / "v1" / "tmp").exists():
                assert list(staging.iterdir()) == []
        else:
            break
    assert refused >= (5 if resource == "size" else 12)
    assert store.resolve("robot") == {"content": key.digest}


def test_a_disk_that_is_freed_serves_again(mount: Callable[[str], Path], key: Key, produce: Produce) -> None:
    store = Store(mount("size=1m"), strict=True)
    store.bind("make the directories", {})
    ballast = store.root / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as stream:
        while stream.write(b"x" * 4096):
            pass
    with pytest.raises((StoreWriteError, OSError)):
        store.obtain(key, produce)
    assert store.get(key.digest) is None
    ballast.unlink()
    assert store.obtain(key, produce).verified("robot.so")


def test_a_disk_that_fails_at_every_flush(
    key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real, steps = os.fsync, 0
    for last in range(1, 40):
        left, store = [last], Store(tmp_path / str(last), strict=True)

        def fail(descriptor: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.EIO, "input/output error")
            real(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            try:
                _work(store, key, produce)
            except StoreWriteError:
                steps += 1
                _check_whole(store, key)
                assert list((store.root / "v1" / "tmp").iterdir()) == []
            else:
                break
    assert steps == 13
    assert store.names() == ["robot"]


def test_a_producer_that_meets_a_full_disk(store: Store, key: Key) -> None:
    def full(_: Path) -> dict[str, Any]:
        raise OSError(errno.ENOSPC, "No space left on device")

    class NoDescription(GridError, FileNotFoundError):
        pass

    def own(_: Path) -> dict[str, Any]:
        raise NoDescription("give another")

    with pytest.raises(StoreWriteError, match=rf"{store.root}: .*No space left on device; .*GRID_RBD_CACHE_DIR"):
        store.obtain(key, full)
    with pytest.raises(NoDescription, match="give another"):
        store.obtain(key, own)
    assert list((store.root / "v1" / "tmp").iterdir()) == []


def test_a_file_size_limit_publishes_nothing(run: Run, store: Store) -> None:
    output = run(
        """
        import resource
        store = Store(sys.argv[1], strict=True)
        store.bind("make the directories", {})
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        results = []
        for size in (100000, 900):
            key = Key({"size": size})
            try:
                store.obtain(key, lambda directory: produce(directory, b"x" * size) | {"more": "y" * 900})
            except (StoreWriteError, OSError) as error:
                results.append(type(error).__name__)
            assert store.get(key.digest) is None
        print(json.dumps([results, os.listdir(store.root / "v1" / "tmp")]))
        """,
        store.root,
    )
    assert json.loads(output) == [["StoreWriteError", "StoreWriteError"], []]


def test_few_open_files_are_enough(run: Run, store: Store) -> None:
    output = run(
        """
        import resource
        def many(directory):
            for n in range(100):
                (directory / f"{n}.h").write_text("x")
            return produce(directory)
        with tempfile.TemporaryDirectory() as warm:
            Store(warm).obtain(Key({"a": 1}), produce)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 6, 4096))
        store = Store(sys.argv[1], strict=True)
        entry = store.obtain(Key({"many": 1}), many)
        for name in entry.files:
            entry.verified(name)
        with store.lease(entry.key):
            print(len(entry.files))
        """,
        store.root,
    )
    assert output == "101"


def test_no_open_file_left_is_an_error_and_no_miss(run: Run, store: Store, key: Key, produce: Produce) -> None:
    store.obtain(key, produce)
    output = run(
        """
        store, key, results = Store(sys.argv[1], strict=True), sys.argv[2], []
        with tempfile.TemporaryDirectory() as warm:
            Store(warm).obtain(Key({"a": 1}), produce)
        import resource, errno
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 3, 4096))
        held = []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        while True:
            for use in (lambda: store.get(key), lambda: store.obtain(Key({"new": 1}), produce)):
                try:
                    use()
                    results.append("done")
                except (StoreError, OSError) as error:
                    results.append("error" if isinstance(error, StoreError) else "producer")
            if results[-1] == "done" or not held:
                break
            os.close(held.pop())
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 4096))
        print(json.dumps([results, os.listdir(store.root / "v1" / "tmp")]))
        """,
        store.root,
        key.digest,
    )
    results, staged = json.loads(output)
    assert results[:2] == ["error", "error"]
    assert results[-2:] == ["done", "done"]
    assert staged == []


def test_a_disk_that_cannot_be_read_is_an_error_and_no_miss(
    store: Store, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise OSError(errno.EIO, "input/output error")

    store.obtain(key, produce)
    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(StoreError, match=r"input/output error; .* cannot be read"):
        store.get(key.digest)
