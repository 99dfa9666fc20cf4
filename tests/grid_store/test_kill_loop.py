"""Writers and a collection that are killed at random times: what can be read is whole, nobody waits for the dead."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grid_store import Store

LOOP = """
import random

ROUNDS, WRITERS, KEYS, NORMAL = int(sys.argv[2]), 4, 12, 2.0
root, rng, parent = sys.argv[1], random.Random(1), os.getpid()

def content(n):
    return bytes([n]) * (1000 + 997 * n)

def make(n):
    def write(directory):
        (directory / "robot.so").write_bytes(content(n))
        (directory / "robot.h").write_bytes(content(n)[:100])
        return {"n": n}
    return write

def check(entry, n):
    assert entry.verified("robot.so").read_bytes() == content(n), n
    assert entry.verified("robot.h").read_bytes() == content(n)[:100], n

def work():
    store, mine = Store(root, strict=True), random.Random()
    while os.getppid() == parent:
        n = mine.randrange(KEYS)
        key = Key({"n": n})
        entry = store.obtain(key, make(n), force=mine.random() < 0.2)
        try:
            with store.lease(key.digest):
                if (entry := store.get(key.digest)) is not None:
                    check(entry, n)
        except (EntryMissingError, FileNotFoundError):  # a forced build is just putting another copy there
            pass
        except CorruptEntryError as error:
            if "cannot be read (No such file" not in str(error):  # the same
                raise
        store.record(Key({"input": n}), key.digest)
        if mine.random() < 0.3:
            store.bind(f"robot {n}", {"content": key.digest})
        else:
            store.unbind(f"robot {n}")

def collect():
    store = Store(root, strict=True)
    while os.getppid() == parent:
        store.gc(execute=True, minimum_age=0.0, max_bytes=20000)
        time.sleep(0.005)

def start(job):
    if child := os.fork():
        return child
    try:
        job()
    except BaseException:
        import traceback
        traceback.print_exc()
    os._exit(1)

Store(root, strict=True).check_writable()
jobs = [work] * WRITERS + [collect]
running = [start(job) for job in jobs]
slowest = 0.0
for number in range(ROUNDS):
    time.sleep(rng.uniform(0.005, 0.1))
    at = rng.randrange(len(jobs))
    os.kill(running[at], signal.SIGKILL)
    assert os.waitpid(running[at], 0)[1] == signal.SIGKILL, "it ended by itself"
    running[at] = start(jobs[at])
    n = rng.randrange(KEYS)
    began = time.monotonic()
    entry = Store(root, strict=True).obtain(Key({"n": n}), make(n))
    slowest = max(slowest, time.monotonic() - began)
for child in running:
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, "it ended by itself"
store = Store(root, strict=True)
began = time.monotonic()
for n in range(KEYS):
    entry = store.obtain(Key({"n": n}), make(n))
    check(entry, n)
print(json.dumps({"slowest": slowest, "after": time.monotonic() - began}))
"""


@pytest.fixture
def root() -> Iterator[Path]:
    """A place in memory, where flushing takes no time, so that more happens between two kills."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder, "store")


def _kill(rounds: int, root: Path, run: Callable[..., str]) -> None:
    found = json.loads(run(LOOP, root, rounds, patience=60 + rounds))
    store = Store(root, strict=True)
    assert store.verify() == []
    assert found["slowest"] < 5.0, "a build waited for somebody who was dead"
    assert found["after"] < 5.0, "a lock outlived its holder"
    store.gc(execute=True)
    left = [path.name for path in (root / "v1" / "tmp").iterdir()]
    assert all(name.startswith("file.") for name in left), "only files on their way to their places, which go by age"
    assert len(list(store.entries())) == 12


def test_kills_at_random_times_cost_nothing(root: Path, run: Callable[..., str]) -> None:
    _kill(20, root, run)


@pytest.mark.stress
def test_two_hundred_kills_cost_nothing(root: Path, run: Callable[..., str]) -> None:
    _kill(200, root, run)
