"""Time per sample of a handle's methods, and their distance from the reference evaluation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_backends.numpy import RobotHandle
from grid_core.plugins.algorithm import Algorithm
from grid_rbd.samples import sample_arguments

ROUNDS = 40
SECONDS = 0.002
"""A round repeats a call for at least this long; the fastest round counts, since noise only ever adds."""


def time_algorithm(handle: RobotHandle, algorithm: Algorithm, batch: int) -> float:
    """Return the time of one call divided by the batch size, in nanoseconds, results written to existing memory.

    Parameters
    ----------
    handle : RobotHandle
        Its ``threads`` apply.
    algorithm : Algorithm
    batch : int
        Samples per call.
    """
    method = getattr(handle, algorithm.name)
    arguments = sample_arguments(algorithm, handle, batch)
    out = method(**arguments)

    def call() -> None:
        method(**arguments, out=out)

    return _seconds(call) / batch * 1e9


def _seconds(call: Callable[[], None]) -> float:
    repeats = 1
    while (elapsed := _round(call, repeats)) < SECONDS:
        repeats = max(repeats * 2, int(repeats * SECONDS / max(elapsed, 1e-9)))
    return min(elapsed, *(_round(call, repeats) for _ in range(ROUNDS - 1))) / repeats


def _round(call: Callable[[], None], repeats: int) -> float:
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return time.perf_counter() - began


def reference_error(handle: RobotHandle, reference: RobotHandle, algorithm: Algorithm, batch: int) -> float:
    """Return the largest difference between two handles' results, relative to the largest entry of the second.

    Both get the same numbers, rounded to the dtype of ``handle``, so that only the evaluation differs.

    Parameters
    ----------
    handle, reference : RobotHandle
    algorithm : Algorithm
    batch : int
        Number of samples.

    Returns
    -------
    float
        The largest one over all outputs; NaN if any entry is.
    """
    arguments = sample_arguments(algorithm, handle, batch)
    found, expected = (_outputs(robot, algorithm, arguments) for robot in (handle, reference))
    return float(np.max([_relative(a, b) for a, b in zip(found, expected)]))


def _outputs(robot: RobotHandle, algorithm: Algorithm, arguments: Mapping[str, Any]) -> list[NDArray[np.float64]]:
    answer = getattr(robot, algorithm.name)(**arguments)
    arrays = answer if isinstance(answer, tuple) else (answer,)
    return [np.asarray(array, np.float64) for array in arrays]


def _relative(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    scale = float(np.abs(expected).max(initial=0.0))
    return float(np.abs(found - expected).max(initial=0.0) / (scale or 1.0))
