"""SIGTERM during a build: a documented exit code, no compiler that goes on, and nothing half built."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grid_rbd.cli.termination import Terminated, orderly_termination
from tests.grid_core.build.conftest import Stub

WAITING = """#!/bin/sh
case "$*" in *--version*|*-dumpmachine*|*probe*) exec {compiler} "$@";; esac
echo $$ > "{pids}/$$"
exec sleep 300
"""


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Shells start what is in the background deaf to interrupts, and children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def waiting(stub: Stub, tmp_path: Path) -> Path:
    """A compiler that is asked for a unit and never ends."""
    (tmp_path / "pids").mkdir()
    script = tmp_path / "waiting-cxx"
    script.write_text(WAITING.format(compiler=stub.command, pids=tmp_path / "pids"))
    script.chmod(0o755)
    return script


def build(compiler: Path, tmp_path: Path, program: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a build and return once its compilers run."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path / "scratch")}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**environment, "CXX": str(compiler), "GRID_RBD_CACHE_DIR": str(tmp_path / "store")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60.0
    while not any((tmp_path / "pids").iterdir()) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def leftovers(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "scratch").iterdir(), *(tmp_path / "store" / "v1" / "tmp").iterdir()]


def compilers(tmp_path: Path) -> list[int]:
    """Return the processes of the compilers that still run."""
    pids = [int(path.name) for path in (tmp_path / "pids").iterdir()]
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize(
    ("sent", "code", "said"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")]
)
def test_a_command_ends_in_order(sent: int, code: int, said: str, waiting: Path, tmp_path: Path) -> None:
    program = "from grid_rbd.cli import main; main()"
    process = build(waiting, tmp_path, program, "build", "arm7", "-a", "crba,minv")
    assert leftovers(tmp_path)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert f"error: {said}" in err
    assert (leftovers(tmp_path), compilers(tmp_path)) == ([], [])


def test_a_killed_build_takes_its_compilers_along(waiting: Path, tmp_path: Path) -> None:
    process = build(waiting, tmp_path, "from grid_rbd.cli import main; main()", "build", "arm7", "-a", "crba,minv")
    assert compilers(tmp_path)
    time.sleep(0.1)  # the compiler runs a moment before its guard does
    process.kill()
    process.communicate(timeout=60)
    deadline = time.monotonic() + 10.0
    while compilers(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_next_build_sweeps_up_after_a_library_that_was_killed(waiting: Path, stub: Stub, tmp_path: Path) -> None:
    import grid_rbd
    from grid_rbd.examples import find_description

    program = "import sys, grid_rbd; grid_rbd.load_robot(sys.argv[1], algorithm_list='crba')"
    process = build(waiting, tmp_path, program, str(find_description("arm7")))
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert len(leftovers(tmp_path)) == 2
    grid_rbd.load_robot(
        find_description("quadruped12"), algorithm_list="crba", compiler=stub.command, cache_dir=tmp_path / "store"
    )
    assert leftovers(tmp_path) == []


def test_other_handlers_and_threads_are_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with orderly_termination():
            os.kill(os.getpid(), signal.SIGTERM)
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
    thread = threading.Thread(target=lambda: orderly_termination().__enter__())
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_handler_is_gone_afterwards() -> None:
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with pytest.raises(Terminated), orderly_termination():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
