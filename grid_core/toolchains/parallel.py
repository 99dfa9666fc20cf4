"""Several compilations at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from grid_core.toolchains.process import Children

T = TypeVar("T")


def run_all(jobs: Sequence[Callable[[], T]], workers: int) -> list[T]:
    """Run jobs in threads, at most ``workers`` at a time.

    Parameters
    ----------
    jobs : sequence of callable
        What they run through a toolchain runs in processes of its own, so threads are enough.
    workers : int
        See :func:`~grid_core.toolchains.workers.worker_count`.

    Returns
    -------
    list
        The results, in the order of ``jobs``.

    Raises
    ------
    Exception
        The first failure. Jobs that have not started are dropped, and compilers that are running are killed.
    """
    children = Children()
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        try:
            futures = [pool.submit(children.call, job) for job in jobs]
            wait(futures)
        except BaseException as error:
            children.stop(error)
            raise
    if children.failure is not None:
        raise children.failure
    return [future.result() for future in futures]
