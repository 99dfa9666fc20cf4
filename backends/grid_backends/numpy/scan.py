"""Calls of a step again and again, each from where the last one ended: the steps are the last batch axis of the result.

The state is carried through views: every call reads rows of the result that the one before it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array, as_real, normalise
from grid_backends.numpy.buffers import view_of
from grid_backends.numpy.general import apart, checked
from grid_backends.numpy.record import Call
from grid_backends.numpy.signature import Argument, Signature
from grid_core.errors import ArgumentError
from grid_core.plugins.algorithm import Scan


@dataclass(frozen=True)
class Callee:
    """A method that a scan calls."""

    signature: Signature
    call: Call

    def __call__(self, given: Mapping[str, Array | None], out: Array, where: tuple[Any, ...]) -> None:
        arguments = tuple(given[i.name] for i in self.signature.inputs)
        checked(self.call(arguments, out, *where), self.signature)


def call_scan(signature: Signature, callees: Sequence[Callee], values: tuple[Any, ...], out: Any, *where: Any) -> Any:
    """Run all steps.

    Parameters
    ----------
    callees : sequence of Callee
        The step, and what is called beside it.
    values : tuple
        One entry per input.

    Raises
    ------
    ArgumentError
        Arguments have different numbers of steps, or one does not fit.
    """
    scan = signature.algorithm.scan
    assert scan is not None
    given = dict(zip((i.name for i in signature.inputs), values, strict=True))
    moving = [i for i in signature.inputs if i.name in scan.along and given[i.name] is not None]
    along = {i.name: _rows(signature, i, given[i.name]) for i in moving}
    count = step_count(signature, along)
    first = {name: rows[..., 0, :] if count else np.zeros(rows.shape[-1], rows.dtype) for name, rows in along.items()}
    arguments = normalise(signature, tuple({**given, **first}.values()))
    lengths = (count + 1, *(count for _ in callees[1:]))
    buffers, answer = _results(signature, out, arguments.batch, lengths)
    held = {i.name: apart(a, buffers) for i, a in zip(signature.inputs, arguments.arrays, strict=True)}
    held |= {name: apart(_flat(rows, arguments.batch), buffers) for name, rows in along.items()}
    ScanRun(scan, callees, held, buffers, where, _write).run(count)
    return answer


def _write(target: Array, rows: Array) -> None:
    target[...] = rows


class ScanRun:
    """The memory of one call: every buffer has the shape (B, steps, *sample).

    Parameters
    ----------
    scan : Scan
    callees : sequence of Callee
    held : dict
        The inputs, with one batch axis or none; those with a row per step have the steps after it.
    buffers : tuple
        What results are written to.
    where : tuple
        What functions are called with after ``out``.
    write : callable
        ``write(target, rows)`` copies rows, one each or one for all samples.
    """

    def __init__(
        self,
        scan: Scan,
        callees: Sequence[Callee],
        held: dict[str, Any],
        buffers: tuple[Any, ...],
        where: tuple[Any, ...],
        write: Callable[[Any, Any], None],
    ) -> None:
        self._callees, self._held, self._buffers, self._where = callees, held, buffers, where
        self._write = write
        sizes = {i.name: i.size for i in callees[0].signature.inputs}
        ends = np.cumsum([sizes[name] for name in scan.carried]).tolist()
        self._spans = {name: slice(end - sizes[name], end) for name, end in zip(scan.carried, ends, strict=True)}
        self._along = [name for name in scan.along if held[name] is not None]

    def run(self, count: int) -> None:
        """Carry the state through all steps, then call what is beside them."""
        self._steps(count)
        for number in range(1, len(self._callees)):
            self._beside(number, count)

    def _steps(self, count: int) -> None:
        """Fill the states, the first one from the arguments."""
        states = self._buffers[0]
        for name, span in self._spans.items():
            self._write(states[:, 0, span], self._held[name])
        for step in range(count):
            self._callees[0](self._at(slice(None), step), states[:, step + 1], self._where)

    def _beside(self, number: int, count: int) -> None:
        """Call an algorithm at all steps of all samples, with as few calls as possible."""
        results, callee = self._buffers[number], self._callees[number]
        if count <= results.shape[0]:
            for step in range(count):
                callee(self._at(slice(None), step), results[:, step], self._where)
        else:
            for sample in range(results.shape[0]):
                callee(self._at(sample, slice(count)), results[sample], self._where)

    def _at(self, sample: Any, step: Any) -> dict[str, Any]:
        """Return the inputs of one step of all samples, or of all steps of one sample."""
        found = dict(self._held)
        for name in self._along:
            rows = found[name]
            one = rows.shape[-2] == 1
            found[name] = rows[(sample,) * (rows.ndim - 2) + (0 if one else step,)]
        if isinstance(sample, int):
            mine = set(found) - set(self._along)
            found |= {name: _sample(found[name], self._axes(name), sample) for name in mine if found[name] is not None}
        return found | {name: self._buffers[0][sample, step, span] for name, span in self._spans.items()}

    def _axes(self, name: str) -> int:
        return next(len(i.shape) for i in self._callees[0].signature.inputs if i.name == name)


def _sample(array: Array, axes: int, sample: int) -> Array:
    return array[sample, ...] if array.ndim > axes else array


def _rows(signature: Signature, argument: Argument, value: Any) -> Array:
    """Return an argument with one row per step, shape (..., steps, size)."""
    array = as_real(value, f"{signature.name}: argument {argument.name!r}", signature.dtype)
    if array.ndim < 2 or array.shape[-1:] != argument.shape:
        raise ArgumentError(
            f"{signature.name}: argument {argument.name!r} has shape {array.shape}, expected "
            f"(..., n, {argument.size}) for n steps, or n = 1 for all of them"
        )
    return np.require(array, signature.dtype, ["C_CONTIGUOUS", "ALIGNED"])


def step_count(signature: Signature, along: Mapping[str, Any]) -> int:
    """Return the number of steps: a single row serves them all, unless every argument has one."""
    lengths = {name: rows.shape[-2] for name, rows in along.items()}
    several = {name: length for name, length in lengths.items() if length != 1}
    for (a, first), (b, second) in combinations(several.items(), 2):
        if first != second:
            raise ArgumentError(
                f"{signature.name}: {a!r} has {first} steps and {b!r} has {second}; give as many of both, or one for "
                "all"
            )
    return next(iter(several.values()), 1)


def _flat(rows: Array, batch: tuple[int, ...]) -> Array:
    return rows.reshape((prod(batch), *rows.shape[-2:])) if rows.ndim > 2 else rows


def _results(
    signature: Signature, out: Any, batch: tuple[int, ...], lengths: tuple[int, ...]
) -> tuple[tuple[Array, ...], Any]:
    """Return the buffers, and what the call returns: new memory or the caller's."""
    shapes = [(*batch, length) for length in lengths]
    if out is None:
        views = [np.empty(shape + o.shape, signature.dtype) for shape, o in zip(shapes, signature.outputs, strict=True)]
    else:
        given = (out,) if signature.result is None else out
        if not isinstance(given, (tuple, list)) or len(given) != len(shapes):
            names = ", ".join(o.name for o in signature.outputs)
            raise ArgumentError(f"{signature.name}: out is no tuple of arrays for ({names})")
        views = [view_of(signature, o, b, s) for o, b, s in zip(signature.outputs, given, shapes, strict=True)]
        for view, output in zip(views, signature.outputs, strict=True):
            if view.size and output.size > 1 and view.strides[-1] != view.itemsize:
                raise ArgumentError(
                    f"{signature.name}: out for {output.name!r} has strides {view.strides}; steps are rows, which the "
                    "next step reads, so pass a C-contiguous array"
                )
        if any(np.shares_memory(a, b) for a, b in combinations(views, 2)):
            raise ArgumentError(f"{signature.name}: arrays in out overlap each other; pass separate ones")
    buffers = tuple(v.reshape((prod(batch), *v.shape[len(batch) :])) for v in views)
    if signature.result is not None:
        return buffers, signature.result(*views)
    return buffers, out if isinstance(out, np.ndarray) and out.shape == views[0].shape else views[0]
