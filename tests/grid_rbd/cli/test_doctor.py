"""``doctor``: every finding, and the exit code that follows from the worst."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from grid_backends.errors import RunnerMissingError
from grid_rbd import doctor

from .conftest import Run


def findings(run: Run, *arguments: object) -> dict[str, tuple[str, str]]:
    document = run("doctor", "--json", *arguments).document
    return {check["name"]: (check["status"], f"{check['found']} | {check['advice']}") for check in document["checks"]}


def test_a_machine_in_order(run: Run, tmp_path: Path) -> None:
    ran = run("doctor", "--cache-dir", tmp_path)
    assert ran.code == 0
    assert "ready" in ran.out
    document = run("doctor", "--json", "--cache-dir", tmp_path).document
    assert document["ok"] is True
    assert [check["name"] for check in document["checks"]] == [
        "versions", "processor", "threads", "compiler", "runner", "nvcc", "gpu", "store", "temporary files", "tiers",
        "plugins",
    ]  # fmt: skip


def test_no_compiler(run: Run) -> None:
    ran = run("doctor", "--compiler", "no-such-compiler")
    assert ran.code == 1
    assert "failed: compiler" in ran.out
    assert "Install g++" in ran.out


def test_a_compiler_variable_that_does_not_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    ran = run("doctor")
    assert ran.code == 0
    assert "unset or correct CXX" in ran.out
    assert "ready, with warnings" in ran.out


def test_bad_thread_variables(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRID_RBD_THREADS", "many")
    status, text = findings(run)["threads"]
    assert status == "fail"
    assert "GRID_RBD_THREADS" in text


def test_a_runner_that_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise RunnerMissingError("the compiled runner is missing. Install a compiler")

    monkeypatch.setattr(doctor, "_runner", missing)
    ran = run("doctor")
    assert ran.code == 1
    assert "Install a compiler" in ran.out


def test_a_store_that_everyone_can_write_to(run: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    status, text = findings(run, "--cache-dir", tmp_path)["store"]
    assert status == "fail"
    assert "chmod o-w" in text


def test_a_store_below_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert findings(run, "--cache-dir", tmp_path / "file" / "store")["store"][0] == "fail"


def test_file_systems_without_execution(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    space = {"f_blocks": 1 << 30, "f_bfree": 1 << 30, "f_bavail": 1 << 30, "f_frsize": 4096}
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC, **space))
    found = findings(run)
    assert found["store"][0] == found["temporary files"][0] == "fail"
    assert "GRID_RBD_CACHE_DIR" in found["store"][1]
    assert "TMPDIR" in found["temporary files"][1]


def test_a_store_on_a_mount_without_execution(run: Run, mount: Callable[[str], Path]) -> None:
    status, text = findings(run, "--cache-dir", mount("size=4m,noexec") / "store")["store"]
    assert (status, "mounted noexec" in text) == ("fail", True)
    assert findings(run, "--cache-dir", mount("size=4m") / "store")["store"][1].count("noexec") == 0


@pytest.mark.parametrize(("free", "status"), [(1 << 20, "fail"), (1 << 29, "warn"), (1 << 40, "ok")])
def test_free_space(run: Run, monkeypatch: pytest.MonkeyPatch, free: int, status: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=free, used=0, free=free))
    assert findings(run)["store"][0] == status


def test_an_old_processor(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "detect_level", lambda: "x86-64-v2")
    assert findings(run)["processor"][0] == "warn"


def test_a_dependency_that_is_gone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_required", lambda: ["numpy", "no-such-distribution"])
    status, text = findings(run)["versions"]
    assert status == "fail"
    assert "no-such-distribution" in text


def test_a_broken_plugin(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken_plugin.py"
    broken.write_text("raise RuntimeError('half written')")
    status, text = findings(run, "--plugin", broken)["plugins"]
    assert status == "fail"
    assert "half written" in text
    assert "broken_plugin: mend it, or do not name it" in text
