"""Calls that run once for each item of a list: the items become the last batch axis of the result."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array, normalise
from grid_backends.numpy.buffers import bind_out
from grid_backends.numpy.general import apart, checked
from grid_backends.numpy.record import Call
from grid_backends.numpy.signature import Signature
from grid_core.errors import ArgumentError


def call_each(signature: Signature, call: Call, values: tuple[Any, ...], out: Any, *where: Any) -> Any:
    """Call once per item, each call writing its part of the result.

    Parameters
    ----------
    values : tuple
        One entry per input; what a reader with ``each`` gave has the items as first axis.

    Raises
    ------
    ArgumentError
        Lists of items have different lengths, or an argument does not fit.
    """
    lists = {n: values[n] for n, i in enumerate(signature.algorithm.inputs) if i.each}
    count = _common_length(signature, lists)
    if count > 0 and signature.result is None:
        answer = _call_plainly(signature, call, values, lists, count, out, *where)
        if answer is not None:
            return answer
    first = {n: items[0] if count else np.zeros(items.shape[1:], items.dtype) for n, items in lists.items()}
    arguments = normalise(signature, tuple(first.get(n, value) for n, value in enumerate(values)))
    batch = (*arguments.batch, count)
    if out is None:
        out = tuple(np.empty(batch + o.shape, signature.dtype) for o in signature.outputs)
        out = out[0] if signature.result is None else out
    buffers = bind_out(signature, out, batch)
    inputs = tuple(apart(a, buffers.arrays) for a in arguments.arrays)
    for item in range(count):
        parts = tuple(_part(b, arguments.batch, count, item) for b in buffers.arrays)
        results = parts[0] if signature.result is None else parts
        checked(call(_with_item(inputs, lists, item), results, *where), signature)
    return buffers.answer


def _call_plainly(
    signature: Signature,
    call: Call,
    values: tuple[Any, ...],
    lists: dict[int, Array],
    count: int,
    out: Any,
    *where: Any,
) -> Any:
    """Call with the arguments as they are, and return ``None`` where only normalised ones will do.

    Most calls come with arrays that need no normalising, which takes longer than a small robot's kernel.
    """
    shape, done = signature.outputs[0].shape, 0
    if out is None:
        first = call(_with_item(values, lists, 0), None, *where)
        if not isinstance(first, np.ndarray):
            return None
        batch = first.shape[: first.ndim - len(shape)]
        if count == 1:
            return first.reshape((*batch, 1, *shape))
        out, done = np.empty((*batch, count, *shape), signature.dtype), 1
        out[_item(batch, 0)] = first
    elif not isinstance(out, np.ndarray) or out.shape[-len(shape) - 1 :] != (count, *shape) or _overlaps(out, values):
        return None
    batch = out.shape[: out.ndim - len(shape) - 1]
    for item in range(done, count):
        if call(_with_item(values, lists, item), out[_item(batch, item)], *where) is NotImplemented:
            return None
    return out


def _item(batch: tuple[int, ...], item: int) -> tuple[Any, ...]:
    """Return the index of an item in a result with these batch axes."""
    return (*(slice(None) for _ in batch), item)


def _overlaps(out: Array, values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, np.ndarray) and np.may_share_memory(out, value) for value in values)


def _with_item(values: tuple[Any, ...], lists: dict[int, Array], item: int) -> tuple[Any, ...]:
    """Return the inputs of a call for one item, arrays even where that is a number; a single one serves all."""
    return tuple(
        lists[n][item if len(lists[n]) > 1 else 0, ...] if n in lists else value for n, value in enumerate(values)
    )


def _common_length(signature: Signature, lists: dict[int, Array]) -> int:
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
