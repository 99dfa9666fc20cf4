"""``try`` and ``bench``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grid_rbd import measure, trial

from .conftest import Run


@pytest.fixture(autouse=True)
def _short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SECONDS", 1e-4)
    monkeypatch.setattr(measure, "ROUNDS", 2)


def test_try_builds_measures_and_compares(run: Run, pendulum: Path) -> None:
    ran = run("try", pendulum, "-a", "inverse_dynamics,crba", "--batch", "33")
    assert ran.code == 0
    assert "2 operations agree with the reference" in ran.out
    rows = [line.split() for line in ran.out.splitlines() if re.match("inverse_dynamics|crba", line)]
    assert [row[0] for row in rows] == ["inverse_dynamics", "crba"]
    assert all(float(cell) >= 0.0 for row in rows for cell in row[1:])


def test_try_names_frames_where_they_are_needed(run: Run, pendulum: Path) -> None:
    ran = run("try", pendulum, "-a", "tool_fext,end_effector_pose_runtime", "--batch", "5")
    assert ran.code == 0
    assert "2 operations agree with the reference" in ran.out


def test_try_as_a_document(run: Run, pendulum: Path) -> None:
    document = run("try", pendulum, "-a", "inverse_dynamics", "--batch", "8", "--json").document
    assert document["agrees"] is True
    assert [found["dtype"] for found in document["operations"]] == ["float32", "float64"]
    for found in document["operations"]:
        assert found["nanoseconds"] > 0.0
        assert found["error"] <= document["tolerances"][found["dtype"]]


def test_try_builds_the_robot_that_ships_with_the_package(run: Run) -> None:
    document = run("try", "-a", "generalized_gravity", "--json").document
    assert Path(document["robot"]).name == "arm7.urdf"
    assert document["batch"] == 1024


def test_try_shows_what_it_measures_on_a_terminal(run: Run, pendulum: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grid_rbd.cli.trial.on_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    ran = run("try", pendulum, "-a", "crba", "--batch", "8")
    assert ran.code == 0
    assert "measuring 1/1" in ran.err
    assert "measuring" not in ran.out


@pytest.mark.parametrize("error", [1.0, float("nan")])
def test_try_fails_when_results_are_wrong(
    run: Run, pendulum: Path, monkeypatch: pytest.MonkeyPatch, error: float
) -> None:
    monkeypatch.setattr(trial, "reference_error", lambda *_: error)
    ran = run("try", pendulum, "-a", "inverse_dynamics", "--batch", "8")
    assert ran.code == 1
    assert "wrong: inverse_dynamics in float32" in ran.out


def test_bench_prints_one_line_per_measurement(run: Run, pendulum: Path) -> None:
    ran = run("bench", pendulum, "-a", "crba", "--batch", "1", "--batch", "16", "--threads", "2")
    assert ran.code == 0
    names = [line.split()[0] for line in ran.out.splitlines()]
    prefix = "double_pendulum_continuous.crba.float32"
    assert names == [f"{prefix}.batch1.threads2.ns_per_sample", f"{prefix}.batch16.threads2.ns_per_sample"]
    assert all(float(line.split()[1]) > 0.0 for line in ran.out.splitlines())


def test_bench_as_a_table_and_as_a_document(run: Run, pendulum: Path) -> None:
    flags = ("-a", "crba", "--batch", "4")
    assert "batch 4" in run("bench", pendulum, *flags, "--table").out
    (timing,) = run("bench", pendulum, *flags, "--json").document
    assert (timing["algorithm"], timing["batch"], timing["threads"]) == ("crba", 4, 1)


def test_batches_that_fit_nowhere_are_one_message(run: Run, pendulum: Path) -> None:
    ran = run("bench", pendulum, "-a", "crba", "--batch", "99999999999999", "--json")
    assert ran.code == 1
    assert "--batch is 99999999999999: arguments and results of crba take" in ran.document["error"]


@pytest.mark.parametrize("command", ["bench", "try"])
def test_a_batch_that_does_not_fit_is_refused(
    run: Run, pendulum: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("grid_rbd.samples.free_memory", lambda: 10_000_000)
    ran = run(command, pendulum, "-a", "crba", "--batch", "1000000")
    assert ran.code == 1
    assert "--batch is 1000000: arguments and results of crba take 0.056 GB, and 0.01 GB are free" in ran.err
    fits = int(ran.err.split("take at most ")[1].split()[0])
    half = fits // 2 if command == "try" else fits  # which goes on in double precision
    assert run(command, pendulum, "-a", "crba", "--batch", half).code == 0
