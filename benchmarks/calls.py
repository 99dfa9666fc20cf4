"""Calls that contestants make alike: a method that all of them have, on the same arguments.

Nothing here imports a contestant, since two of them have one name and live in processes of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.device_time import device_times
from benchmarks.samples import samples
from benchmarks.timing import median_call

DT = 0.01
"""Duration of steps in time, in seconds."""


@dataclass(frozen=True)
class Call:
    """A method and what it is called with.

    Parameters
    ----------
    method : str
    arguments : sequence of str
        Those of :func:`host_arguments` that it takes, in order.
    keywords : mapping
        More arguments, the same for all samples.
    """

    method: str
    arguments: Sequence[str] = ("q", "qd", "u")
    keywords: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The method with its keywords, as measurements are called."""
        return ".".join([self.method, *map(str, self.keywords.values())])

    def on(self, handle: Any, given: Mapping[str, Any]) -> Callable[[], object]:
        """Return the call on a handle of any contestant."""
        return partial(getattr(handle, self.method), *(given[name] for name in self.arguments), **self.keywords)


@dataclass(frozen=True)
class Times:
    """Microseconds by call and batch, and why some calls have none."""

    microseconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def host_arguments(handle: Any, batch: int, floating: bool, dtype: str = "float32") -> dict[str, Any]:
    """Return q, qd, u (a force or an acceleration), and the number dt."""
    arrays = zip(("q", "qd", "u"), samples(handle.nq, handle.nv, batch, floating))
    return {**{name: array.astype(dtype) for name, array in arrays}, "dt": DT}


def device_arguments(handle: Any, batch: int, floating: bool, dtype: str = "float32") -> dict[str, Any]:
    """Return the same with arrays in device memory."""
    import torch

    given = host_arguments(handle, batch, floating, dtype)
    return {n: torch.from_numpy(v).cuda() if isinstance(v, np.ndarray) else v for n, v in given.items()}


def device_call_times(handle: Any, calls: Sequence[Call], batches: Sequence[int], floating: bool) -> Times:
    """Return what calls on device arrays take the device."""
    given = {batch: device_arguments(handle, batch, floating) for batch in batches}
    return _times(calls, lambda call: device_times({str(b): call.on(handle, a) for b, a in given.items()}))


def host_call_times(handle: Any, calls: Sequence[Call], batches: Sequence[int], floating: bool) -> Times:
    """Return what calls on NumPy arrays take, from the call to the result."""
    given = {batch: host_arguments(handle, batch, floating) for batch in batches}
    return _times(calls, lambda call: {str(b): median_call(call.on(handle, a)) * 1e6 for b, a in given.items()})


def _times(calls: Sequence[Call], measured: Callable[[Call], Mapping[str, float]]) -> Times:
    """Measure one call after the other; one that fails is left out, with the reason."""
    microseconds, refused = {}, {}
    for call in calls:
        try:
            microseconds[call.name] = measured(call)
        except Exception as error:  # noqa: BLE001 -- contestants raise what they like, and the other calls count
            refused[call.name] = f"{type(error).__name__}: {error}".partition("\n")[0]
    return Times(microseconds, refused)
