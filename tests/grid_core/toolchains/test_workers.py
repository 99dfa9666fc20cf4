from __future__ import annotations

import os
from pathlib import Path

import pytest

from grid_core.errors import OptionError
from grid_core.toolchains import worker_count, workers

GIB = 1 << 30


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend 8 processors and 100 GiB."""
    monkeypatch.delenv(workers.JOBS_VARIABLE, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(workers, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(workers, "CGROUP", tmp_path)
    available(tmp_path, 100)


def available(folder: Path, gib: float) -> None:
    (folder / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable:   {int(gib * GIB) // 1024} kB\n")


def group(folder: Path, limit: str, used: float, cached: float) -> None:
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{int(used * GIB)}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {int(cached * GIB)}\nslab 2\n")


def test_the_processors_of_this_process_are_the_limit() -> None:
    assert worker_count(100) == 8


def test_there_are_no_more_workers_than_jobs() -> None:
    assert worker_count(3) == 3


def test_a_worker_needs_one_and_a_half_gib(tmp_path: Path) -> None:
    available(tmp_path, 4.6)
    assert worker_count(100) == 3


def test_one_worker_remains_when_memory_is_short(tmp_path: Path) -> None:
    available(tmp_path, 0.5)
    assert worker_count(100) == 1


def test_the_control_group_counts_when_it_is_tighter(tmp_path: Path) -> None:
    group(tmp_path, str(8 * GIB), used=5, cached=1)
    assert worker_count(100) == 2


def test_an_unlimited_control_group_changes_nothing(tmp_path: Path) -> None:
    group(tmp_path, "max", used=90, cached=0)
    assert worker_count(100) == 8


def test_a_machine_without_meminfo_counts_its_memory(tmp_path: Path) -> None:
    (tmp_path / "meminfo").unlink()
    assert 1 <= worker_count(100) <= 8


def test_the_variable_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(workers.JOBS_VARIABLE, "13")
    assert worker_count(100) == 13
    assert worker_count(5) == 5


@pytest.mark.parametrize("text", ["0", "-2", "many", "2.5"])
def test_a_variable_that_is_no_number_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(workers.JOBS_VARIABLE, text)
    with pytest.raises(OptionError, match="GRID_RBD_BUILD_JOBS="):
        worker_count(4)
