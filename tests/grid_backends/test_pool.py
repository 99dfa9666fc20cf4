"""The thread pool: split batches, several callers at once, forks."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grid_backends.numpy.units import open_unit
from grid_core.model import Model
from tests.grid_backends.toys import expected, make_record

NV, NQ = 8, 9
RAGGED = (1, 3, 4, 5, 63, 64, 65, 257, 1003)


@pytest.fixture
def heavy(native: ModuleType, model: Model, compile_unit: Callable[..., Path]) -> Any:
    """A function that claims so much work per sample that every batch is split."""
    return open_unit(compile_unit(OPERATIONS=1_000_000), make_record(model).signatures["toy"])


def sample(batch: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(batch)
    return rng.normal(size=(batch, NQ)), rng.normal(size=(batch, NV))


def run(function: Any, batch: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    q, qd = sample(batch)
    return function((q, qd, None, None, None, None), None, threads), expected(q, qd)


@pytest.mark.parametrize("threads", [-1, 0, 1, 2, 3, 8])
def test_split_batches_are_complete(heavy: Any, threads: int) -> None:
    for batch in RAGGED:
        np.testing.assert_allclose(*run(heavy, batch, threads))


def test_rows_do_not_depend_on_the_split(heavy: Any) -> None:
    q, qd = sample(1003)
    alone = [heavy((q[i], qd[i], None, None, None, None)) for i in range(len(q))]
    for threads in (1, 2, 5):
        np.testing.assert_array_equal(heavy((q, qd, None, None, None, None), None, threads), alone)


def test_starts_as_many_workers_as_asked_for(heavy: Any, native: ModuleType) -> None:
    run(heavy, 1003, 4)
    assert native.workers() >= 3
    before = native.workers()
    run(heavy, 1003, 2)
    assert native.workers() == before


def test_small_work_stays_on_the_caller(native: ModuleType, model: Model, compile_unit: Callable[..., Path]) -> None:
    light = open_unit(compile_unit(OPERATIONS=1), make_record(model).signatures["toy"])
    before = native.workers()
    np.testing.assert_allclose(*run(light, 1003, before + 10))
    assert native.workers() == before


def test_many_callers_at_once(heavy: Any) -> None:
    def calls(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(40):
            np.testing.assert_allclose(*run(heavy, int(rng.integers(1, 600)), int(rng.integers(1, 5))))

    with ThreadPoolExecutor(8) as executor:
        list(executor.map(calls, range(8)))


FORKING = (
    "ignore:.*multi-threaded.*fork:DeprecationWarning",
    "ignore:.*fork.*JAX:RuntimeWarning",  # where other tests of this process used it
)


@pytest.mark.filterwarnings(*FORKING)
def test_forked_children_get_a_pool_of_their_own(heavy: Any, native: ModuleType) -> None:
    def has_fresh_pool() -> bool:
        fresh = native.workers() == 0
        result, answer = run(heavy, 1003, 3)
        return fresh and native.workers() == 2 and np.allclose(result, answer)

    run(heavy, 1003, 4)
    with ThreadPoolExecutor(2) as executor:
        busy = [executor.submit(run, heavy, 257, 3) for _ in range(200)]
        for _ in range(3):
            assert holds_in_child(has_fresh_pool)
        for future in busy:
            np.testing.assert_allclose(*future.result())


@pytest.mark.filterwarnings(*FORKING)
def test_brief_calls_wake_workers_in_bursts_only(
    native: ModuleType, model: Model, compile_unit: Callable[..., Path]
) -> None:
    """A worker stays awake for 100 microseconds: for calls that are further apart, waking it would be in vain."""
    brief = open_unit(compile_unit(OPERATIONS=1_000), make_record(model).signatures["toy"])
    arguments = (*sample(1003), None, None, None, None)

    def wakes_in_bursts() -> bool:
        for _ in range(20):
            brief(arguments, None, 2)
            pause = time.perf_counter() + 1.5e-4
            while time.perf_counter() < pause:
                pass
        stayed_alone = native.workers() == 0
        for _ in range(1000):
            brief(arguments, None, 2)
        return stayed_alone and native.workers() == 1

    assert holds_in_child(wakes_in_bursts)


def holds_in_child(holds: Callable[[], bool]) -> bool:
    """Return what a function finds in a forked child, whose pool is a fresh one."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(20)  # a child that hangs is a failure
            code = 0 if holds() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
