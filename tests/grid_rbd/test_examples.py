"""What a user may call a robot: the path of a description, or the name of one that ships with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from grid_core.errors import DescriptionNotFoundError
from grid_rbd.examples import example_robots, find_description


def test_shipped_robots_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"arm7", "quadruped12", "humanoid29"} <= set(example_robots())
    assert find_description("arm7") == example_robots()["arm7"]
    monkeypatch.chdir(tmp_path)
    Path("arm7").mkdir()
    assert find_description("arm7") == example_robots()["arm7"], "a folder is no description"
    assert find_description(".") == Path(), "what it is, is said by the reader"
    Path("mine.urdf").touch()
    assert find_description("mine.urdf") == Path("mine.urdf")


def test_what_is_neither_gets_the_names() -> None:
    with pytest.raises(DescriptionNotFoundError, match=r"no file 'arm'.* did you mean 'arm7'.*arm7, humanoid29, quadr"):
        find_description("arm")
    with pytest.raises(FileNotFoundError):
        find_description("no/such/file.urdf")


def test_registered_names_are_listed_once() -> None:
    with pytest.raises(DescriptionNotFoundError, match=r"one of arm7, humanoid29, quadruped12, mine$"):
        find_description("no/such/file.urdf", ["arm7", "mine"])
