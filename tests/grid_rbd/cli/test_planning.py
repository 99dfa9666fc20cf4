"""``plan`` and ``explain``: tables, sentences and documents about what a build would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def cache(tmp_path: Path, stub: object, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    monkeypatch.setenv("CXX", stub.command)  # type: ignore[attr-defined]
    return "--cache-dir", tmp_path / "store"


CRBA = ("--algorithms", "crba")


def test_a_plan_says_what_is_expected(run: Run, cache: tuple[str, Path], pendulum: Path) -> None:
    unknown = run("plan", pendulum, *CRBA, *cache)
    assert unknown.out.rstrip().endswith("1 unit to build"), "nothing was recorded yet"
    assert run("build", pendulum, *CRBA, *cache).code == 0
    assert "everything is stored" in run("plan", pendulum, *CRBA, *cache).out
    other = run("plan", "arm7", "--algorithms", "minv", *cache)
    assert "2 units to build, about 0." in other.out
    assert "and 1 that no recorded build tells of" in other.out
    stale = run("plan", pendulum, *CRBA, "--dtype", "float64", *cache)
    assert "stale" in stale.out
    assert "options changed" in stale.out


def test_explain_says_why(run: Run, cache: tuple[str, Path], pendulum: Path) -> None:
    assert (
        "crba: It would be compiled, because it has not been built before."
        in run("explain", pendulum, *CRBA, *cache).out
    )
    run("build", pendulum, *CRBA, *cache)
    document = run("explain", pendulum, *CRBA, "--dtype", "float64", "--json", *cache).document
    assert document["cached"] is False
    (unit,) = document["units"]
    assert (unit["algorithm"], unit["status"]) == ("crba", "stale")
    assert "the options (dtype: float32 -> float64) differ from what" in unit["sentence"]


def test_a_registered_robot_can_be_named(run: Run, cache: tuple[str, Path], pendulum: Path) -> None:
    run("build", pendulum, *CRBA, "--name", "arm", *cache)
    assert run("plan", "arm", "--json", *cache).document["cached"] is True
    assert "crba: It is stored" in run("explain", "arm", *cache).out
    refused = run("explain", "arm", "--dtype", "float64", *cache)
    assert (refused.code, "planned as it was registered" in refused.err) == (2, True)
    unknown = run("explain", "armm", *cache)
    assert (unknown.code, "no example or registered robot" in unknown.err) == (3, True)
    assert "'arm'" in unknown.err


def test_build_check_compares(
    run: Run, cache: tuple[str, Path], pendulum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("build", pendulum, *CRBA, "--check", *cache).code == 1, "there is nothing to compare"
    run("build", pendulum, *CRBA, *cache)
    assert "same" in run("build", pendulum, *CRBA, "--check", *cache).out
    monkeypatch.setenv("STUB_MODE", "other")
    ran = run("build", pendulum, *CRBA, "--check", "--json", *cache)
    assert ran.code == 1
    assert ran.document["units"] == [{"algorithm": "crba", "outcome": "differs", "files": ["unit.so"]}]
