"""The reference device: algorithms interpreted with NumPy behind the same arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array, normalise
from grid_backends.numpy.buffers import bind_out
from grid_backends.numpy.layouts import BATCH_FIRST, BATCH_LAST, new_array
from grid_backends.numpy.record import Call, RobotRecord
from grid_backends.numpy.signature import Argument, Signature

Evaluate = Callable[[str, dict[str, Array]], Mapping[str, Array]]
"""``evaluate(algorithm, inputs)``: float64 arrays (B, size) by name, optional inputs left out where the caller did."""


class ReferenceFunctions:
    """Functions that an interpreter evaluates.

    Parameters
    ----------
    record : RobotRecord
        The robot entry.
    evaluate : callable
        ``evaluate(name, {input: (B, size) float64}) -> {output: (B, size)}``.
    """

    def __init__(self, record: RobotRecord, evaluate: Evaluate) -> None:
        self._record = record
        self._evaluate = evaluate

    def get(self, name: str) -> Call | None:
        """Return the function of an algorithm, or ``None`` if the entry does not hold it."""
        if name not in self._record.algorithms:
            return None
        return _Interpreted(self._record.signatures[name], self._evaluate)


class _Interpreted:
    def __init__(self, signature: Signature, evaluate: Evaluate) -> None:
        self._signature = signature
        self._evaluate = evaluate
        self._layout = BATCH_FIRST

    def set_batch_last(self, value: bool) -> None:
        self._layout = BATCH_LAST if value else BATCH_FIRST

    def __call__(self, values: tuple[Any, ...], out: Any, threads: int) -> Any:  # noqa: ARG002
        arguments = normalise(self._signature, values)
        if out is None:
            out = self._new(arguments.batch)
        buffers = bind_out(self._signature, out, arguments.batch)
        batch = prod(arguments.batch)
        inputs = {
            i.name: _rows(a, i, batch)
            for i, a in zip(self._signature.inputs, arguments.arrays, strict=True)
            if a is not None
        }
        results = self._evaluate(self._signature.name, inputs)
        for target, output in zip(buffers.arrays, self._signature.outputs, strict=True):
            target[...] = results[output.name].reshape(target.shape)
        return buffers.answer

    def _new(self, batch: tuple[int, ...]) -> Any:
        arrays = [new_array(batch, o.shape, self._signature.dtype, self._layout) for o in self._signature.outputs]
        return arrays[0] if self._signature.result is None else tuple(arrays)


def _rows(array: Array, argument: Argument, batch: int) -> Array:
    """Return one float64 row per sample, shape (B, size)."""
    shared = array.ndim == len(argument.shape)
    flat = np.asarray(array, np.float64).reshape((1 if shared else batch, argument.size))
    return np.broadcast_to(flat, (batch, argument.size))
