"""Device time of an algorithm in each of the launch shapes that its unit was built for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from grid_backends.numpy.cuda import device_index
from grid_backends.numpy.handle import RobotHandle
from grid_backends.numpy.record import RobotRecord

ANY_BATCH = 2**62
REPEATS = 20
"""Calls in a graph, so that gaps between launches are those of a program that keeps the GPU busy."""

ROUNDS = 7


@dataclass(frozen=True)
class ShapeTimes:
    """What was measured of one call.

    Attributes
    ----------
    seconds : mapping of str to float
        Device time by launch shape.
    estimated : str
        The shape that would be launched without a profile.
    """

    seconds: Mapping[str, float]
    estimated: str


def shape_times(record: RobotRecord, function: Any, name: str, arguments: Mapping[str, Any]) -> ShapeTimes:
    """Measure how long a call on device arrays takes the device in each launch shape.

    Parameters
    ----------
    record : RobotRecord
    function : CudaFunction
        That of the algorithm; its profile is empty afterwards.
    name : str
        The algorithm.
    arguments : mapping of str to Any
        Keyword arguments of its method, in host memory.
    """
    from grid_backends.native import DeviceArray, to_device

    index = device_index(record.device)
    values = _bound(record, name, arguments)
    inputs = record.signatures[name].inputs
    on_device = tuple(
        to_device(value, index) if isinstance(value, np.ndarray) and value.ndim > len(declared.shape) else value
        for declared, value in zip(inputs, values, strict=True)
    )
    standard = [declared.default is not None for declared in record.signatures[name].declared]
    given = [value is not None or has_default for value, has_default in zip(values, standard, strict=True)]
    batch = next(value.shape[0] for value in on_device if isinstance(value, DeviceArray))
    function.set_profile([])
    estimated = function.shape_for(given, batch)
    results = function(on_device)
    times = {}
    try:
        for shape in dict.fromkeys(kernel["shape"] for kernel in function.unit.kernels):
            function.set_profile([(ANY_BATCH, shape)])
            times[shape] = function.time(on_device, results, REPEATS, ROUNDS)
    finally:
        function.set_profile([])
    return ShapeTimes(times, estimated)


class _Bound(Exception):
    """Carries the arguments of a call."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments


class _Shown:
    """A function that only shows what it is called with."""

    def set_batch_last(self, value: bool) -> None:
        """Results have no order, since there are none."""

    def __call__(self, arguments: tuple[Any, ...], *_: Any) -> NoReturn:
        raise _Bound(arguments)


class _Binder:
    """Gives such functions, whatever the name."""

    def get(self, name: str) -> Any:  # noqa: ARG002
        return _Shown()


def _bound(record: RobotRecord, name: str, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a handle calls the function of an algorithm with."""
    try:
        getattr(RobotHandle(record, _Binder()), name)(**arguments)
    except _Bound as call:
        return call.arguments
    raise AssertionError(name)
