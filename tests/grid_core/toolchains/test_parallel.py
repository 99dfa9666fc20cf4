from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grid_core.errors import CompileError
from grid_core.toolchains import CxxCompiler, detect_level, run_all

Stub = Callable[[str], CxxCompiler]
Alarm = Callable[[Path], None]


def job(compiler: CxxCompiler, source: Path, name: str) -> str:
    output = source.parent / f"{name}.so"
    log = source.parent / f"{name}.log"
    compiler.compile(source, output, level=detect_level(), include=(), log=log)
    return name


def test_results_come_in_the_order_of_the_jobs() -> None:
    assert run_all([partial(delayed, 0.05, "slow"), partial(delayed, 0.0, "fast")], workers=2) == ["slow", "fast"]


def delayed(seconds: float, value: str) -> str:
    time.sleep(seconds)
    return value


def test_no_jobs_are_no_work() -> None:
    assert run_all([], workers=4) == []


def test_at_most_so_many_jobs_run_at_once() -> None:
    running, most, lock = [0], [0], threading.Lock()

    def count() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)
        with lock:
            running[0] -= 1

    run_all([count] * 8, workers=3)
    assert most[0] == 3


def test_real_compilers_run_in_parallel(compiler: CxxCompiler, source: Path) -> None:
    names = ["a", "b", "c"]
    assert run_all([partial(job, compiler, source, name) for name in names], workers=2) == names
    assert all((source.parent / f"{name}.so").exists() for name in names)


def test_the_first_failure_kills_the_others_and_their_children(stub: Stub, source: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    hanging = 'case "$*" in *hang*) sleep 60 & echo $$ $! >> {0}; wait;; esac; '
    failing = "while [ $(wc -l < {0} 2>/dev/null || echo 0) -lt 2 ]; do sleep 0.01; done; exit 1"
    compiler = stub((hanging + failing).format(pids))
    started = time.monotonic()
    with pytest.raises(CompileError, match="exit status 1"):
        run_all([partial(job, compiler, source, name) for name in ("hang1", "hang2", "fail", "never")], workers=3)
    assert time.monotonic() - started < 30
    killed = [int(pid) for pid in pids.read_text().split()]
    assert len(killed) == 4
    assert all(is_gone(pid) for pid in killed)
    assert not (tmp_path / "never.log").exists()


def test_an_interrupt_in_a_job_kills_the_others(stub: Stub, source: Path, tmp_path: Path) -> None:
    compiler = stub(f"echo $$ > {tmp_path}/pid; sleep 60")

    def interrupt() -> str:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all([partial(job, compiler, source, "hang"), interrupt], workers=2)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_an_interrupt_of_the_caller_kills_all(stub: Stub, source: Path, alarm: Alarm) -> None:
    pid = source.parent / "pid"
    compiler = stub(f"echo $$ > {pid}; sleep 60")
    alarm(pid)
    with pytest.raises(KeyboardInterrupt):
        run_all([partial(job, compiler, source, "hang")], workers=1)
    assert is_gone(int(pid.read_text()))


def test_an_interrupt_while_jobs_are_handed_out_kills_all(
    stub: Stub, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = source.parent / "pid"
    compiler = stub(f"echo $$ > {pid}; sleep 60")
    submit = ThreadPoolExecutor.submit

    def interrupted(*arguments: Any) -> None:
        submit(*arguments)
        while not (pid.exists() and pid.read_text().strip()):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_all([partial(job, compiler, source, "hang")], workers=1)
    assert time.monotonic() - start < 30.0
    assert is_gone(int(pid.read_text()))


def test_an_interrupt_of_a_single_compilation_kills_it(stub: Stub, source: Path, alarm: Alarm) -> None:
    pid = source.parent / "pid"
    compiler = stub(f"echo $$ > {pid}; sleep 60")
    alarm(pid)
    with pytest.raises(KeyboardInterrupt):
        job(compiler, source, "hang")
    assert is_gone(int(pid.read_text()))


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """Return a function that interrupts the main thread as soon as a file has content."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def watch(path: Path) -> None:
        while not (path.exists() and path.read_text().strip()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield lambda path: threading.Thread(target=watch, args=(path,), daemon=True).start()
    signal.signal(signal.SIGUSR1, before)


def is_gone(pid: int, patience: float = 5.0) -> bool:
    """Tell whether a process has ended; an orphan may stay a zombie where nobody collects it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False
