"""Calls that run once for each item of a list: the items become the last batch axis of the result."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array, normalise
from grid_backends.numpy.buffers import bind_out
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
    lists = {n: v for n, (i, v) in enumerate(zip(signature.declared, values, strict=True)) if i.each}
    count = _common_length(signature, lists)
    first = {n: items[0] if count else np.zeros(items.shape[1:], items.dtype) for n, items in lists.items()}
    arguments = normalise(signature, tuple(first.get(n, value) for n, value in enumerate(values)))
    batch = (*arguments.batch, count)
    if out is None:
        out = tuple(np.empty(batch + o.shape, signature.dtype) for o in signature.outputs)
        out = out[0] if signature.result is None else out
    buffers = bind_out(signature, out, batch)
    for item in range(count):
        inputs = tuple(
            lists[n][min(item, len(lists[n]) - 1)] if n in lists else value for n, value in enumerate(arguments.arrays)
        )
        parts = tuple(_part(b, arguments.batch, count, item) for b in buffers.arrays)
        call(inputs, parts[0] if signature.result is None else parts, *where)
    return buffers.answer


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
