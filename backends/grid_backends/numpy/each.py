"""Calls that run once for each item of a list: the items become the last batch axis of the result."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array, normalise
from grid_backends.numpy.buffers import bind_out
from grid_backends.numpy.general import apart, checked
from grid_backends.numpy.layouts import BATCH_FIRST, new_array
from grid_backends.numpy.record import Call
from grid_backends.numpy.signature import Signature
from grid_core.errors import ArgumentError

Lists = dict[int, tuple[Array, ...]]
"""The items of each input that has some, by its number."""


def call_each(
    signature: Signature, call: Call, values: tuple[Any, ...], out: Any, *where: Any, layout: str = BATCH_FIRST
) -> Any:
    """Call once per item, each call writing its part of the result.

    Parameters
    ----------
    values : tuple
        One entry per input; a tuple of arrays where a reader gave several items.

    Raises
    ------
    ArgumentError
        Lists of items have different lengths, or an argument does not fit.
    """
    lists = lists_of(signature, values)
    count = common_length(signature, lists)
    if count > 0 and signature.result is None and layout == BATCH_FIRST:
        answer = _call_plainly(signature, call, values, lists, count, out, *where)
        if answer is not None:
            return answer
    first = {n: items[0] if count else np.zeros(signature.inputs[n].shape) for n, items in lists.items()}
    arguments = normalise(signature, tuple(first.get(n, value) for n, value in enumerate(values)))
    batch = (*arguments.batch, count)
    if out is None:
        out = tuple(new_array(batch, o.shape, signature.dtype, layout) for o in signature.outputs)
        out = out[0] if signature.result is None else out
    buffers = bind_out(signature, out, batch)
    inputs = tuple(apart(a, buffers.arrays) for a in arguments.arrays)
    for item, given in enumerate(items(inputs, lists, count)):
        parts = tuple(_part(b, arguments.batch, count, item) for b in buffers.arrays)
        if all(part[: 1 if arguments.batch else None].flags.c_contiguous for part in parts):
            checked(call(given, parts[0] if signature.result is None else parts, *where), signature)
        else:
            _copy(checked(call(given, None, *where), signature), parts)
    return buffers.answer


def _copy(result: Any, parts: tuple[Array, ...]) -> None:
    """Write results to memory that a function cannot write itself, such as every third entry of a batch."""
    for part, value in zip(parts, result if isinstance(result, tuple) else (result,), strict=True):
        part[...] = value


def _call_plainly(
    signature: Signature,
    call: Call,
    values: tuple[Any, ...],
    lists: Lists,
    count: int,
    out: Any,
    *where: Any,
) -> Any:
    """Call with the arguments as they are, and return ``None`` where only normalised ones will do.

    Most calls come with arrays that need no normalising, which takes longer than a small robot's kernel.
    """
    shape = signature.outputs[0].shape
    calls = items(values, lists, count)
    if out is None:
        first = call(next(calls), None, *where)
        if not isinstance(first, np.ndarray):
            return None
        batch = first.shape[: first.ndim - len(shape)]
        if count == 1:
            return first.reshape((*batch, 1, *shape))
        out = np.empty((*batch, count, *shape), signature.dtype)
        parts = _parts(out, shape)
        next(parts)[...] = first
    elif not isinstance(out, np.ndarray) or out.shape[-len(shape) - 1 :] != (count, *shape) or _overlaps(out, values):
        return None
    else:
        parts = _parts(out, shape)
    for inputs, part in zip(calls, parts):
        if call(inputs, part, *where) is NotImplemented:
            return None
    return out


def _parts(out: Array, shape: tuple[int, ...]) -> Iterator[Array]:
    """Yield the part of each item in a result."""
    axis = out.ndim - len(shape) - 1
    return iter(out.swapaxes(0, axis) if axis < 2 else np.moveaxis(out, axis, 0))  # the first is much faster


def _overlaps(out: Array, values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, np.ndarray) and np.may_share_memory(out, value) for value in values)


def items(values: tuple[Any, ...], lists: Lists, count: int) -> Iterator[tuple[Any, ...]]:
    """Yield the inputs of the call for each item; a single one serves all."""
    inputs = list(values)
    for item in range(count):
        for n, items in lists.items():
            inputs[n] = items[item if len(items) > 1 else 0]
        yield tuple(inputs)


def lists_of(signature: Signature, values: tuple[Any, ...]) -> Lists:
    return {n: values[n] for n, i in enumerate(signature.algorithm.inputs) if i.each}


def common_length(signature: Signature, lists: Lists) -> int:
    lengths = {signature.inputs[n].name: len(items) for n, items in lists.items()}
    several = {name: length for name, length in lengths.items() if length != 1}
    if len(set(several.values())) > 1:
        (a, first), (b, second) = list(several.items())[:2]
        raise ArgumentError(
            f"{signature.name}: {a!r} has {first} items and {b!r} has {second}; give as many of both, or one for all"
        )
    return next(iter(several.values()), 1)


def _part(buffer: Array, batch: tuple[int, ...], count: int, item: int) -> Array:
    """Return the view of one item in a buffer of shape (B * count, *sample)."""
    rows = buffer.reshape((prod(batch), count, *buffer.shape[1:]))[:, item]
    return rows if batch else rows[0]
