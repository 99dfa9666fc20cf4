"""Temporary folders: private, gone at the end, swept when their process was killed, kept when asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grid_store.scratch import Scratch, sweep_scratch

Run = Callable[..., str]

KILLED = """
from grid_store.scratch import Scratch
kept = Scratch("kept")
kept.keep()
left = Scratch("left")
(left.folder / "unit.cpp").write_text("int x;")
print(kept.folder, left.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_goes(place: Path) -> None:
    scratch = Scratch("crba")
    assert scratch.folder.parent == place
    assert scratch.folder.name.startswith("grid-rbd-crba-")
    assert scratch.folder.stat().st_mode & 0o777 == 0o700
    (scratch.folder / "unit.cpp").write_text("int x;")
    scratch.remove()
    assert list(place.iterdir()) == []


def test_only_folders_of_the_dead_are_swept(place: Path, start: Callable[..., object]) -> None:
    process = start(KILLED)
    output, _ = process.communicate(timeout=30)  # type: ignore[attr-defined]
    kept, left = map(Path, output.split())
    assert left.exists()
    foreign = place / "grid-rbd-venv"
    foreign.mkdir()
    living = Scratch("living")
    assert not left.exists(), "the next process that needs one removes it"
    assert sweep_scratch() == 0
    assert (kept.exists(), foreign.exists(), living.folder.exists()) == (True, True, True)
    living.remove()


def test_a_kept_folder_holds_what_was_written(place: Path) -> None:
    scratch = Scratch("crba")
    (scratch.folder / "build.log").write_text("no such luck")
    scratch.keep()
    assert [path.name for path in scratch.folder.iterdir()] == ["build.log"]


def test_what_cannot_be_locked_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="No space"):
        Scratch("crba")
    assert list(place.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_links_are_not_followed(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / ".alive").touch()
    (place / "grid-rbd-link").symlink_to(other)
    assert sweep_scratch() == 0
    assert (other / ".alive").exists()
