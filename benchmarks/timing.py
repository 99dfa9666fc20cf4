"""Timing side by side: contestants take turns, so that whatever else the machine does falls on all of them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Contestant = Callable[[], float]
"""Runs once and returns its time, in any unit."""


def race(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, list[float]]:
    """Return the times of each contestant over rounds in which each runs once, after one round that does not count."""
    for run in contestants.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name].append(run())
    return times


def ratio(times: Mapping[str, list[float]], slow: str, fast: str) -> float:
    """Return how many times faster ``fast`` is: the best round of each counts, since noise only ever adds."""
    return min(times[slow]) / min(times[fast])


def median_ratio(times: Mapping[str, list[float]], slow: str, fast: str) -> float:
    """Return the median of the rounds' own ratios."""
    return statistics.median(s / f for s, f in zip(times[slow], times[fast]))


def repeated(call: Callable[[], object], seconds: float) -> Contestant:
    """Return a contestant that repeats a call for about ``seconds`` and returns the mean time of one in seconds.

    The first call of all, which may compile, says nothing of how many fit. One more goes before each turn, since
    another contestant has just had the caches.
    """
    call()
    repeats = 1
    while (spent := _spent(call, repeats)) < seconds / 4:
        repeats = max(2 * repeats, int(repeats * seconds / max(spent, 1e-9)))

    def turn() -> float:
        call()
        return _spent(call, repeats) / repeats

    return turn


def median_call(call: Callable[[], object], *, least: int = 15, seconds: float = 0.05) -> float:
    """Return the median time of single calls in seconds: at least ``least`` of them, for about ``seconds``."""
    call()
    times: list[float] = []
    while len(times) < least or sum(times) < seconds:
        times.append(_spent(call, 1))
    return statistics.median(times)


def _spent(call: Callable[[], object], repeats: int) -> float:
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return time.perf_counter() - began


@contextmanager
def on_processors(count: int) -> Iterator[None]:
    """Keep this process, and those that it starts, on the last ``count`` of its processors."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[-count:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
