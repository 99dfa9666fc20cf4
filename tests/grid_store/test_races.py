"""Many processes at once: one build per key, no torn entry, no lease broken by collection."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grid_store import Key, Store
from grid_store.layout import Layout

Start = Callable[..., "subprocess.Popen[str]"]
Produce = Callable[[Path], dict[str, Any]]
PROCESSES = 8


def _outputs(processes: list[subprocess.Popen[str]]) -> list[str]:
    results = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), results
    return [output.strip() for output, _ in results]


def _release(processes: list[subprocess.Popen[str]], gate: Path) -> None:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    gate.touch()


GATE = """
print("ready", flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.001)
"""


def test_many_processes_build_one_key_once(store: Store, start: Start, tmp_path: Path) -> None:
    script = (
        GATE
        + """
def slow(directory):
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    time.sleep(0.3)
    return produce(directory)

entry = Store(sys.argv[1], strict=True).obtain(Key({"one": 1}), slow)
print(entry.meta["pid"], entry.verified("robot.so").read_text())
"""
    )
    processes = [start(script, store.root, tmp_path / "gate") for _ in range(PROCESSES)]
    _release(processes, tmp_path / "gate")
    outputs = _outputs(processes)
    assert (tmp_path / "gate").read_text() == "built\n"
    assert set(outputs) == {f"{next(p.pid for p in processes if str(p.pid) in outputs[0])} content"}


def test_builds_in_one_shard_run_side_by_side(store: Store, layout: Layout, start: Start, tmp_path: Path) -> None:
    shard = Key({"n": 0}).digest[:2]
    numbers = [n for n in range(10000) if Key({"n": n}).digest[:2] == shard][:PROCESSES]
    script = (
        GATE
        + """
def meet(directory):
    Path(sys.argv[4], sys.argv[3]).touch()
    while len(os.listdir(sys.argv[4])) < int(sys.argv[5]):
        time.sleep(0.005)
    return produce(directory)

print(Store(sys.argv[1], strict=True).obtain(Key({"n": int(sys.argv[3])}), meet).key)
"""
    )
    (tmp_path / "met").mkdir()
    processes = [start(script, store.root, tmp_path / "gate", n, tmp_path / "met", PROCESSES) for n in numbers]
    _release(processes, tmp_path / "gate")
    assert sorted(_outputs(processes)) == sorted(entry.key for entry in store.entries())
    assert [path.name for path in layout.area("objects").iterdir()] == [shard]


def test_sixteen_readers_take_no_exclusive_lock(store: Store, start: Start, tmp_path: Path) -> None:
    """They read at the same time as a process that holds every lock that there is."""
    store.obtain(Key({"one": 1}), lambda folder: {"size": (folder / "robot.so").write_bytes(b"content")})
    holder = (
        GATE.replace("sys.argv[2]", "sys.argv[3]")
        + """
import fcntl
held = []
for path in [p for p in Path(sys.argv[1], "v1").rglob("*") if "locks" in p.parts and p.is_file()]:
    held.append(os.open(path, os.O_RDWR))
    fcntl.flock(held[-1], fcntl.LOCK_EX)
print(len(held), flush=True)
sys.stdin.read()
"""
    )
    reader = (
        GATE
        + """
import fcntl
real = fcntl.flock
def watched(descriptor, operation):
    assert not operation & fcntl.LOCK_EX, "a reader took a lock for itself"
    return real(descriptor, operation)
fcntl.flock = watched
store = Store(sys.argv[1], strict=True)
for _ in range(50):
    entry = store.get(Key({"one": 1}).digest, verify=True)
    assert entry.verified("robot.so").read_bytes() == b"content"
    with store.lease(entry.key):
        pass
print("read")
"""
    )
    holding = start(holder, store.root, "", tmp_path / "hold")
    _release([holding], tmp_path / "hold")
    assert holding.stdout is not None
    assert int(holding.stdout.readline()) >= 1
    readers = [start(reader, store.root, tmp_path / "gate") for _ in range(16)]
    _release(readers, tmp_path / "gate")
    assert _outputs(readers) == ["read"] * 16


def test_leased_entries_survive_a_collection_loop(store: Store, start: Start, tmp_path: Path) -> None:
    store.check_writable()
    collector = (
        GATE
        + """
store, removed, end = Store(sys.argv[1], strict=True), 0, time.time() + 2
while time.time() < end:
    removed += len(store.gc(execute=True, minimum_age=0.0)["entries_removed"])
print(removed)
"""
    )
    worker = (
        GATE
        + """
import random
store, built, leased, end = Store(sys.argv[1], strict=True), 0, 0, time.time() + 2

def count(directory):
    global built
    built += 1
    return produce(directory, b"x" * 1000)

while time.time() < end:
    entry = store.obtain(Key({"n": random.randrange(4)}), count)
    try:
        lease = store.lease(entry.key)
    except EntryMissingError:
        continue
    with lease:
        entry = store.get(entry.key)
        for _ in range(5):
            assert entry.path("robot.so").read_bytes() == b"x" * 1000
            time.sleep(0.0005)
    leased += 1
print(json.dumps([built, leased]))
"""
    )
    processes = [start(script, store.root, tmp_path / "gate") for script in (collector, worker, worker, worker)]
    _release(processes, tmp_path / "gate")
    removed, *work = _outputs(processes)
    assert int(removed) > 0
    assert all(leased > 0 for _, leased in map(json.loads, work))
    assert sum(built for built, _ in map(json.loads, work)) >= int(removed)


def test_readers_go_on_while_a_build_holds_the_lock(store: Store, key: Key, produce: Produce, never: Produce) -> None:
    store.obtain(key, produce)

    def read(directory: Path) -> dict[str, Any]:
        assert store.obtain(key, never)
        return produce(directory)

    assert store.obtain(key, read, force=True)
