"""A builder that is killed, in any phase, blocks nobody and leaves no half of an entry behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grid_store import Key, Store
from grid_store.layout import Layout

Produce = Callable[[Path], dict[str, Any]]
Run = Callable[..., str]

SUICIDE = """
import grid_store.atomic, grid_store.publish, grid_store.staging

calls = 0
def armed(function):
    def call(*arguments, **names):
        global calls
        calls += 1
        if calls == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **names)
    return call

def dying(directory):
    armed(produce)(directory)
    return armed(produce)(directory)

killed, step = 0, 1
while True:
    if not (child := os.fork()):
        os.fsync, Path.rename, os.fchmod = armed(os.fsync), armed(Path.rename), armed(os.fchmod)
        Store(sys.argv[1], strict=True).obtain(Key({"n": step}), dying)
        os._exit(0)
    if os.WIFEXITED(os.waitpid(child, 0)[1]):
        break
    killed, step = killed + 1, step + 1
print(killed)
"""


def test_a_kill_in_every_phase_costs_nothing(
    store: Store, run: Run, produce: Produce, leftovers: Callable[[], list[Path]]
) -> None:
    store.bind("make the directories", {})
    killed = int(run(SUICIDE, store.root))
    assert killed >= 9
    for n in range(1, killed + 1):
        begin = time.monotonic()
        entry = store.obtain(Key({"n": n}), produce)
        assert time.monotonic() - begin < 5.0
        assert all(entry.verified(name) for name in entry.files)
    assert leftovers() == []
    assert len(list(store.entries())) == killed + 1


def test_the_next_build_of_any_key_sweeps_what_the_dead_left(
    store: Store, run: Run, start: Callable[..., Any], produce: Produce, leftovers: Callable[[], list[Path]]
) -> None:
    script = """
    def dying(directory):
        produce(directory)
        os.kill(os.getpid(), signal.SIGTERM)
    Store(sys.argv[1], strict=True).obtain(Key({"n": 1}), dying)
    """
    start(script, store.root).communicate(timeout=30)
    assert len(leftovers()) == 1
    living: list[int] = []

    def watch(directory: Path) -> dict[str, Any]:
        living.append(len(leftovers()))
        run("Store(sys.argv[1], strict=True).obtain(Key({'n': 3}), produce)", store.root)
        living.append(len(leftovers()))
        return produce(directory)

    store.obtain(Key({"n": 2}), watch)
    assert living == [1, 1], "its own, which another process leaves alone"
    assert leftovers() == []


def test_a_zero_length_object_after_power_loss_is_caught(store: Store, key: Key, produce: Produce) -> None:
    for name in ("robot.so", "record.json"):
        path = store.obtain(key, produce).directory / name
        path.chmod(0o600)
        path.write_bytes(b"")
        assert store.get(key.digest) is None
        assert store.obtain(key, produce).verified("robot.so")


def test_a_zero_length_action_after_power_loss_is_caught(store: Store, layout: Layout, key: Key) -> None:
    store.record(key, key.digest)
    layout.action(key.digest).chmod(0o600)
    layout.action(key.digest).write_bytes(b"")
    assert store.lookup(key.digest) is None
    store.record(key, key.digest)
    assert store.lookup(key.digest)
