"""Whose store it is: private, shared with a group, or refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from grid_store import Key, Store, StoreUnavailableError, UnsafeStoreError
from grid_store.layout import Layout
from grid_store.usable import check_root

Produce = Callable[[Path], dict[str, Any]]
Run = Callable[..., str]


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def _fill(store: Store, key: Key, produce: Produce) -> None:
    entry = store.obtain(key, produce)
    store.record(Key({"input": 1}), entry.key)
    store.bind("robot", {"content": entry.key})
    store.lease(entry.key).release()


def _modes(root: Path) -> tuple[set[int], set[int]]:
    below = [path for path in root.rglob("*") if path.name != "CACHEDIR.TAG"]
    directories = {path.stat().st_mode & 0o7777 for path in below if path.is_dir()}
    return directories, {path.stat().st_mode & 0o7777 for path in below if path.is_file()}


def test_a_store_is_private(store: Store, key: Key, produce: Produce, umask: int) -> None:
    _fill(store, key, produce)
    assert store.root.stat().st_mode & 0o777 == 0o700
    assert _modes(store.root) == ({0o700}, {0o600, 0o444})


def test_a_root_that_its_group_can_write_is_shared(store: Store, key: Key, produce: Produce, umask: int) -> None:
    store.root.mkdir()
    store.root.chmod(0o2770)
    _fill(store, key, produce)
    assert _modes(store.root) == ({0o2770}, {0o660, 0o444})
    assert {path.stat().st_gid for path in store.root.rglob("*")} == {store.root.stat().st_gid}


def test_a_root_that_is_a_device_is_refused() -> None:
    """Not because every user can write to it, which nobody should change."""
    with pytest.raises(StoreUnavailableError, match="store /dev/null: it is not a directory"):
        check_root(Layout(Path("/dev/null")))


@pytest.mark.parametrize("where", [".", "v1"])
def test_what_every_user_can_write_is_refused(
    store: Store, key: Key, produce: Produce, never: Produce, where: str
) -> None:
    store.obtain(key, produce)
    (store.root / where).chmod(0o777)
    uses: list[Callable[[], object]] = [
        lambda: store.get(key.digest),
        lambda: Store(store.root).obtain(key, never),
        lambda: store.bind("robot", {}),
        lambda: store.lookup(key.digest),
        lambda: list(store.entries()),
        store.gc,
    ]
    for use in uses:
        with pytest.raises(UnsafeStoreError, match="chmod o-w"):
            use()
    (store.root / where).chmod(0o700)
    assert store.obtain(key, never)


def test_a_fresh_root_that_every_user_can_write_is_refused(store: Store, key: Key, never: Produce) -> None:
    store.root.mkdir()
    store.root.chmod(0o1777)
    with pytest.raises(UnsafeStoreError, match="chmod o-w"):
        store.obtain(key, never)
    assert list(store.root.iterdir()) == []


@pytest.mark.parametrize("area", [".", "objects", "tmp", "locks", "names"])
def test_a_symlink_inside_the_store_is_refused(store: Store, key: Key, never: Produce, area: str) -> None:
    store.bind("make the directories", {})
    path = (store.root / "v1" / area).resolve()
    path.rename(store.root / "elsewhere")
    path.symlink_to(store.root / "elsewhere")
    with pytest.raises(UnsafeStoreError, match="symbolic link"):
        store.obtain(key, never)


def test_without_a_home_nothing_is_read_from_the_working_directory(
    tmp_path: Path, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless(*_: object, **__: object) -> str:
        raise RuntimeError("could not determine the home directory")

    Store(tmp_path / "~" / ".cache" / "grid-rbd").obtain(key, produce)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRID_RBD_CACHE_DIR", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_dir", homeless)
    with pytest.raises(StoreUnavailableError, match="no home directory"):
        Store(strict=True).get(key.digest)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become two other users")
def test_two_users_of_a_group_share_a_store(run: Run, open_path: Path) -> None:
    root = open_path / "shared"
    root.mkdir()
    os.chown(root, 0, 4242)
    root.chmod(0o2770)
    script = """
    import warnings; warnings.simplefilter("error")
    drop(int(sys.argv[2]), 4242)
    os.umask(0o077)
    store = Store(sys.argv[1], strict=True)
    shared, own = Key({"shared": 1}), Key({"own": sys.argv[2]})
    for key in (shared, own):
        entry = store.obtain(key, produce)
        store.lease(entry.key).release()
        entry.verified("robot.so")
        store.record(shared, entry.key)
        store.bind("robot", {"content": entry.key})
    print(store.get(shared.digest).meta["pid"], len(list(store.entries())), store.gc(execute=True)["entries_kept"])
    """
    first = run(script, root, 4301).split()
    second = run(script, root, 4302).split()
    assert first[1:] == ["2", "2"]
    assert second == [first[0], "3", "3"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_private_store_of_someone_else_is_left_alone(run: Run, open_path: Path, produce: Produce, key: Key) -> None:
    Store(open_path / "root").obtain(key, produce)
    output = run(
        """
        drop(4301)
        try:
            Store(sys.argv[1], strict=True).get(sys.argv[2])
        except StoreUnavailableError as error:
            print("refused")
        """,
        open_path / "root",
        key.digest,
    )
    assert output == "refused"


def test_a_symbolic_link_to_nothing(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(StoreUnavailableError, match=r"link: it is a symbolic link to .*gone, which is not there"):
        Store(link, strict=True).check_writable()


def test_a_store_that_does_not_exist_is_neither_repaired_nor_collected(tmp_path: Path) -> None:
    store = Store(tmp_path / "typo")
    with pytest.raises(StoreUnavailableError, match=r"typo: there is none, and nothing to repair; give the folder of"):
        store.repair()
    with pytest.raises(StoreUnavailableError, match=r"typo: there is none, and nothing to collect; give the folder of"):
        store.gc(execute=True)
    assert store.gc()["entries_kept"] == 0
    assert list(tmp_path.iterdir()) == []
