"""What must not become an entry, and what happens when two builders arrive at the same place."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grid_store.publish
from grid_store import Key, PublishError, Store
from grid_store.layout import Layout
from grid_store.modes import PRIVATE
from grid_store.publish import publish, quarantine, seal
from grid_store.staging import staging

Produce = Callable[[Path], dict[str, Any]]


def _nothing(directory: Path) -> dict[str, Any]:
    return {}


def _only_a_folder(directory: Path) -> dict[str, Any]:
    (directory / "folder").mkdir()
    return {}


def _empty(directory: Path) -> dict[str, Any]:
    (directory / "good").write_text("x")
    (directory / "robot.so").touch()
    return {}


def _link(directory: Path) -> dict[str, Any]:
    (directory / "robot.so").symlink_to("/bin/sh")
    return {}


def _linked_folder(directory: Path) -> dict[str, Any]:
    (directory / "good").write_text("x")
    (directory / "folder").symlink_to("/etc")
    return {}


def _pipe(directory: Path) -> dict[str, Any]:
    os.mkfifo(directory / "robot.so")
    return {}


def _record(directory: Path) -> dict[str, Any]:
    (directory / "record.json").write_text("{}")
    return {}


def _metadata(directory: Path) -> dict[str, Any]:
    (directory / "robot.so").write_text("x")
    return {"value": {1, 2}}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (_nothing, "nothing was produced"),
        (_only_a_folder, "nothing was produced"),
        (_empty, r"robot\.so is empty"),
        (_link, "regular files only"),
        (_linked_folder, "regular files only"),
        (_pipe, "regular files only"),
        (_record, "choose another name"),
        (_metadata, "must consist of JSON"),
    ],
)
def test_a_bad_product_is_refused(
    store: Store, key: Key, produce: Produce, bad: Produce, message: str, leftovers: Callable[[], list[Path]]
) -> None:
    with pytest.raises(PublishError, match=message):
        store.obtain(key, bad)
    assert store.get(key.digest) is None
    assert leftovers() == []
    assert store.obtain(key, produce)


def _publish(layout: Layout, key: Key, content: str, *, force: bool = False) -> Any:
    with staging(layout, key.digest, PRIVATE) as staged:
        (staged.directory / "robot.so").write_text(content)
        seal(staged.directory, key, {}, PRIVATE)
        return publish(layout, staged, key.digest, PRIVATE, force=force)


def test_the_loser_of_a_race_uses_the_copy_of_the_winner(
    store: Store, layout: Layout, key: Key, leftovers: Callable[[], list[Path]]
) -> None:
    store.bind("make the directories", {})
    winner = _publish(layout, key, "first")
    assert _publish(layout, key, "second") == winner
    assert winner.verified("robot.so").read_text() == "first"
    assert leftovers() == []


def test_a_busy_file_at_the_clean_up_does_not_matter(
    store: Store, layout: Layout, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "device or resource busy")

    store.bind("make the directories", {})
    winner = _publish(layout, key, "first")
    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", busy)
        assert _publish(layout, key, "second") == winner
    assert store.gc(execute=True)["staging_removed"] == 1


def test_a_damaged_winner_goes_to_quarantine(store: Store, layout: Layout, key: Key) -> None:
    store.bind("make the directories", {})
    (_publish(layout, key, "first").directory / "robot.so").unlink()
    assert _publish(layout, key, "second").verified("robot.so").read_text() == "second"
    assert len(list(layout.area("quarantine").iterdir())) == 1


def test_a_loser_that_cannot_see_the_winner_uses_its_own_copy(
    store: Store, layout: Layout, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_: object) -> None:
        raise OSError(errno.ENOTEMPTY, "directory not empty")

    store.bind("make the directories", {})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", taken)
        patch.setattr(grid_store.publish, "quarantine", lambda *_: None)
        entry = _publish(layout, key, "mine")
    assert entry.verified("robot.so").read_text() == "mine"
    assert store.get(key.digest) is None
    assert store.gc(execute=True)["staging_removed"] == 0
    assert entry.path("robot.so").exists()


def test_the_record_is_written_last_and_everything_is_flushed_before_the_rename(
    store: Store, key: Key, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.bind("make the directories", {})
    steps: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def note_fsync(descriptor: int) -> None:
        steps.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def note_rename(self: Path, target: Path) -> Path:
        steps.append("rename")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "rename", note_rename)
    store.obtain(key, produce)
    at = steps.index("rename")
    directory = steps[at - 1]
    assert directory.startswith(key.digest)
    assert steps[at - 2] == "record.json"
    assert set(steps[: at - 2]) == {"robot.so", "robot.h", "include", directory}
    assert steps[at + 1 :] == [key.digest[:2]]


def test_quarantine_of_nothing_is_nothing(store: Store, layout: Layout, key: Key) -> None:
    store.bind("make the directories", {})
    assert quarantine(layout, key.digest) is None
