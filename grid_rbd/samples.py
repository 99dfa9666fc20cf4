"""Random arguments for any declared algorithm, to measure and compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_backends.numpy import RobotHandle
from grid_core.errors import ArgumentError, OutOfMemoryError
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output, resolve
from grid_core.plugins.robot_view import RobotView
from grid_core.toolchains.workers import free_memory

Arguments = dict[str, Any]


NEAR = 0.1
"""How far from default values arguments are drawn, relative to them."""

STEPS = 8
"""Steps of methods that call a step many times."""


def sample_arguments(
    algorithm: Algorithm, handle: RobotHandle, batch: int, seed: int = 0, *, optional: bool = False
) -> Arguments:
    """Draw arguments for a call.

    Configurations lie inside the joint limits, all else is normal with the size that is typical. Arguments with a
    default value or a variant without them are left out, unless asked for: what is measured is the plain call. The last
    joint that will do is named where a frame is required.

    Parameters
    ----------
    algorithm : Algorithm
    handle : RobotHandle
    batch : int
        Number of samples.
    seed : int
        The same seed gives the same draws, whatever the dtype.
    optional : bool
        Draw arguments with a variant too, those with a finite default value near it, and name joints where that may be.

    Returns
    -------
    dict of str to ndarray (batch, ...) or str

    Raises
    ------
    OutOfMemoryError
        They and the results of the call take more memory than is free.
    """
    is_taken = _may_be_drawn if optional else _is_plain
    chosen = [declared for declared in algorithm.inputs if declared.read is None and is_taken(declared)]
    _check_memory(algorithm, chosen, handle, batch)
    generator = np.random.default_rng(seed)
    drawn = {
        declared.name: _draw(declared, handle, _axes(algorithm, declared, batch), generator).astype(handle.dtype)
        for declared in chosen
    }
    return drawn | _frames(algorithm, handle, optional=optional)


def _check_memory(algorithm: Algorithm, chosen: Sequence[Input], handle: RobotHandle, batch: int) -> None:
    """Refuse a batch before the system ends the process for it: memory is promised first and missed when it is used."""
    needed, free = _bytes(algorithm, chosen, handle, batch), free_memory()
    if needed > free:
        fits = max(1, batch * free // needed)
        raise OutOfMemoryError(
            f"batch is {batch}: arguments and results of {algorithm.name} take {needed / 1e9:.3g} GB, and "
            f"{free / 1e9:.3g} GB are free; take at most {fits}"
        )


def _bytes(algorithm: Algorithm, chosen: Sequence[Input], handle: RobotHandle, batch: int) -> int:
    """Return the bytes of all arguments and results, and of what drawing the largest argument takes meanwhile."""
    inputs = [_scalars(declared, _axes(algorithm, declared, batch), handle) for declared in chosen]
    rows = (batch,) if algorithm.scan is None else (batch, STEPS + 1)
    outputs = [_scalars(declared, rows, handle) for declared in algorithm.outputs]
    drawing = 2 * np.dtype(np.float64).itemsize * max(inputs, default=0)
    return np.dtype(handle.dtype).itemsize * sum(inputs + outputs) + drawing


def _scalars(declared: Input | Output, axes: tuple[int, ...], handle: RobotHandle) -> int:
    return math.prod((*axes, *resolve(declared.shape, handle.dims)))


def _is_plain(declared: Input) -> bool:
    """Tell whether the plain call has an argument."""
    return declared.default is None and declared.absent is not Absent.VARIANT


def _may_be_drawn(declared: Input) -> bool:
    return declared.default is None or math.isfinite(declared.default)


def _axes(algorithm: Algorithm, declared: Input, batch: int) -> tuple[int, ...]:
    """Return the batch axes of an argument; what has a row per step gets a few."""
    along = algorithm.scan is not None and declared.name in algorithm.scan.along
    return (batch, STEPS) if along else (batch,)


def _draw(
    declared: Input, handle: RobotHandle, axes: tuple[int, ...], generator: np.random.Generator
) -> NDArray[np.float64]:
    if declared.tangent == "configuration":
        return handle.model.random(int(generator.integers(2**31)), axes[0])
    normal = generator.standard_normal((*axes, *resolve(declared.shape, handle.dims)))
    if declared.default is None:
        return declared.typical * normal
    usual = np.zeros(normal.shape)
    usual[..., slice(None) if declared.scalar_slot is None else declared.scalar_slot] = declared.default
    return usual * (1.0 + NEAR * normal) if declared.default else NEAR * declared.typical * normal


def _frames(algorithm: Algorithm, handle: RobotHandle, *, optional: bool) -> dict[str, str]:
    """Return the name of a joint for each argument whose reader refuses to go without, or takes one if asked for."""
    readable = [declared for declared in algorithm.inputs if declared.read is not None]
    view, named = RobotView(handle.model, TraceSettings()), dict[str, str]()
    for declared in readable:
        given = dict.fromkeys((other.name for other in readable), None) | named
        accepted = [joint for joint in reversed(handle.joint_names) if _is_read(declared, view, given, joint)]
        if not _is_read(declared, view, given, None):
            named[declared.name] = (accepted or handle.joint_names[-1:])[0]
        elif optional and accepted:
            named[declared.name] = accepted[0]
    return named


def _is_read(declared: Input, view: RobotView, given: Mapping[str, Any], value: str | None) -> bool:
    """Tell whether a reader accepts the name of a joint."""
    assert declared.read is not None
    try:
        declared.read(view, {**given, declared.name: value})
    except ArgumentError:
        return False
    return True
