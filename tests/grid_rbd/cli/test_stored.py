"""``list``, ``show``, ``forget`` and ``gc``."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def cache(run: Run, pendulum: Path, tmp_path: Path) -> tuple[str, Path]:
    option = ("--cache-dir", tmp_path)
    assert run("build", pendulum, "-a", "crba", "-n", "pendulum [1]", "-f", *option).code == 0
    return option


def test_list(run: Run, cache: tuple[str, Path]) -> None:
    text = run("list", *cache)
    assert text.code == 0
    assert "pendulum [1]" in text.out
    assert "floating" in text.out
    (robot,) = run("list", "--json", *cache).document
    assert robot["name"] == "pendulum [1]"
    assert robot["model"] == {
        "name": "2dof_planar", "floating_base": True, "nq": 9, "nv": 8, "nb": 3, "frames": robot["model"]["frames"]
    }  # fmt: skip


def test_list_of_an_empty_store(run: Run, tmp_path: Path) -> None:
    assert "grid-rbd try" in run("list", "--cache-dir", tmp_path).out
    assert run("list", "--json", "--cache-dir", tmp_path).document == []


def test_show(run: Run, cache: tuple[str, Path]) -> None:
    text = run("show", "pendulum [1]", *cache)
    assert text.code == 0
    assert "floating_base_joint" in text.out
    assert "0-6" in text.out
    robot = run("show", "pendulum [1]", "--json", *cache).document
    assert [joint["kind"] for joint in robot["joints"]] == ["floating", "continuous", "continuous"]
    assert robot["joints"][1]["position_limits"] == [None, None]
    unit = robot["units"]["crba"]
    assert Path(unit["path"]).stat().st_size == unit["bytes"] == robot["bytes"]


def test_forget(run: Run, cache: tuple[str, Path]) -> None:
    wrong = run("forget", "pendulum", *cache)
    assert wrong.code == 5
    assert (
        "did you mean 'pendulum [1]'?; registered are pendulum [1] (list_registered() and 'grid-rbd list'" in wrong.err
    )
    ran = run("forget", "pendulum [1]", "--json", *cache)
    assert ran.document == {"name": "pendulum [1]", "cache_dir": str(cache[1])}
    assert run("list", "--json", *cache).document == []
    assert run("forget", "pendulum [1]", *cache).code == 5


def test_forget_says_what_is_next(run: Run, cache: tuple[str, Path]) -> None:
    (record,) = (cache[1] / "v1" / "names").iterdir()
    record.write_text("{")
    ran = run("forget", "pendulum [1]", *cache)
    assert (ran.code, record.exists()) == (0, False), "a broken record does not matter"
    assert "pendulum [1] is no longer registered" in ran.out
    assert "gc --execute" in ran.out


def test_a_robot_whose_units_are_gone(run: Run, cache: tuple[str, Path]) -> None:
    unit = run("show", "pendulum [1]", "--json", *cache).document["units"]["crba"]
    Path(unit["path"]).unlink()
    assert "build again" in run("list", *cache).out
    (robot,) = run("list", "--json", *cache).document
    assert robot["stale_reasons"] == ["the unit of 'crba' is no longer in the store"]
    ran = run("show", "pendulum [1]", *cache)
    assert ran.code == 5
    assert "register it again" in ran.err


def test_a_robot_whose_record_is_broken(run: Run, cache: tuple[str, Path]) -> None:
    (record,) = (cache[1] / "v1" / "names").iterdir()
    record.write_text("{")
    (robot,) = run("list", "--json", *cache).document
    assert "its record is broken" in robot["stale_reasons"][0]
    assert run("show", "pendulum [1]", *cache).code == 5
    assert run("gc", *cache).code == 1


def test_show_says_how_joints_are_coupled_and_limited(run: Run, tmp_path: Path) -> None:
    panda = Path(__file__).parents[2] / "golden" / "panda.urdf"
    cache = ("--cache-dir", tmp_path)
    assert run("build", panda, "-a", "generalized_gravity", "--joint-dynamics", *cache).code == 0
    text = run("show", "panda", *cache).out
    assert "mimics panda_finger_joint1" in text
    assert "-2.9 to 2.9" in text
    assert "joint friction by sign" in text
