"""What the tests of the store share: small producers, keys, and scripts that run in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import grid_store
from grid_store import Key, Store
from grid_store.layout import Layout

PRELUDE = """
import os, sys, time, json, signal
from pathlib import Path
from grid_store import *
import filelock, tempfile, atexit

def produce(directory, content=b"content"):
    (directory / "robot.so").write_bytes(content)
    return {"pid": os.getpid()}

def drop(uid, *groups):
    \"\"\"Become another user, once every module is loaded that a build needs.\"\"\"
    with tempfile.TemporaryDirectory() as directory:
        Store(directory).obtain(Key({"a": 1}), produce)
    if os.getuid() == 0:
        os.setgroups(groups)
        os.setgid(groups[0] if groups else uid)
        os.setuid(uid)
"""


Produce = Callable[[Path], dict[str, Any]]


@pytest.fixture
def produce() -> Produce:
    """Write one file and one below a folder."""

    def write(directory: Path) -> dict[str, Any]:
        (directory / "robot.so").write_bytes(b"content of the library")
        (directory / "include").mkdir()
        (directory / "include" / "robot.h").write_text("int x;\n")
        return {"nq": 7, "names": ["a", "b"]}

    return write


@pytest.fixture
def never() -> Produce:
    """Fail: the entry should have been there."""

    def fail(directory: Path) -> dict[str, Any]:
        raise AssertionError(f"built again in {directory}")

    return fail


@pytest.fixture
def age(layout: Layout) -> Callable[[str, float], None]:
    """Let the last use of an entry be so many seconds ago."""

    def change(key: str, seconds: float) -> None:
        record = layout.object(key) / "record.json"
        then = record.stat().st_mtime - seconds
        os.utime(record, (then, then))

    return change


@pytest.fixture
def leftovers(layout: Layout) -> Callable[[], list[Path]]:
    """List the staging area."""
    return lambda: list(layout.area("tmp").iterdir())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "root", strict=True)


@pytest.fixture
def layout(store: Store) -> Layout:
    return Layout(store.root)


@pytest.fixture
def key() -> Key:
    return Key({"source": b"void f();", "flags": ["-O2"]})


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A new directory that every user can reach, which ``tmp_path`` is not."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a file system in memory with some options, or skip the test where that is not allowed."""
    mounted: list[Path] = []

    def make(options: str) -> Path:
        point = tmp_path / f"mounted{len(mounted)}"
        point.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"mode=700,{options}", "tmpfs", str(point)]
        if os.getuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("mounting a file system is not allowed here")
        mounted.append(point)
        return point

    yield make
    for point in mounted:
        subprocess.run(["umount", "-l", str(point)], check=True)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a script in a new process, with the store imported and ``produce`` defined."""
    started: list[subprocess.Popen[str]] = []
    paths = os.pathsep.join([str(Path(grid_store.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(tmp_path)}

    def begin(script: str, *arguments: object, **more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(script), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
            env={**environment, **more},
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start: Start) -> Callable[..., str]:
    """Run a script to its end, which must be a good one, and return what it printed."""

    def finish(script: str, *arguments: object, patience: float = 30.0, **more: str) -> str:
        process = start(script, *arguments, **more)
        output, errors = process.communicate(timeout=patience)
        assert process.returncode == 0, errors
        return output.strip()

    return finish
