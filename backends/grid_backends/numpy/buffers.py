"""Results that go to the caller's memory: checks of ``out=`` and the views through which it is written."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array
from grid_backends.numpy.layouts import is_regular
from grid_backends.numpy.signature import Argument, Signature
from grid_core.errors import ArgumentError


@dataclass(frozen=True)
class Buffers:
    """The caller's memory for one call.

    Parameters
    ----------
    arrays : tuple of ndarray
        One per output, shape (B, *sample) or (*sample): what is written.
    answer : ndarray or tuple
        What the call returns: ``out`` itself, or views of it in the declared shapes.
    """

    arrays: tuple[Array, ...]
    answer: Any


def bind_out(signature: Signature, out: Any, batch: tuple[int, ...]) -> Buffers:
    """Check ``out`` against the outputs of a call with the given batch axes.

    Raises
    ------
    ArgumentError
        It has a wrong shape or dtype, is read-only, lies in memory in an order that units do not write, or overlaps
        itself.
    """
    outputs = signature.outputs
    if len(outputs) == 1:
        view = view_of(signature, outputs[0], out, batch)
        same_shape = isinstance(out, np.ndarray) and view.shape == out.shape
        return Buffers((_flat(view, outputs[0], batch),), out if same_shape else view)
    if isinstance(out, np.ndarray):
        views = _split(signature, out, batch)
    elif isinstance(out, (tuple, list)) and len(out) == len(outputs):
        views = [view_of(signature, o, buffer, batch) for o, buffer in zip(outputs, out, strict=True)]
    else:
        names = ", ".join(o.name for o in outputs)
        raise ArgumentError(f"{signature.name}: out is neither one flat buffer nor a tuple of arrays for ({names})")
    if any(np.shares_memory(a, b) for a, b in combinations(views, 2)):
        raise ArgumentError(f"{signature.name}: arrays in out overlap each other; pass separate ones")
    assert signature.result is not None
    arrays = tuple(_flat(v, o, batch) for v, o in zip(views, outputs, strict=True))
    return Buffers(arrays, signature.result(*views))


def view_of(signature: Signature, argument: Argument, out: Any, batch: tuple[int, ...]) -> Array:
    """Return ``out``, full or flat per sample, in the full shape.

    Raises
    ------
    ArgumentError
        As for :func:`bind_out`.
    """
    what = f"{signature.name}: out for {argument.name!r}"
    buffer = _writable(signature, out, what)
    full, flat = batch + argument.shape, (*batch, argument.size)
    if buffer.shape not in (full, flat):
        raise ArgumentError(
            f"{what} has shape {buffer.shape}, expected {full}" + (f" or {flat}" if full != flat else "")
        )
    return _reshaped(buffer, full, len(batch), what)


def _split(signature: Signature, out: Array, batch: tuple[int, ...]) -> list[Array]:
    """Return views of one flat buffer, its outputs one after another in each sample."""
    what = f"{signature.name}: out"
    buffer = _writable(signature, out, what)
    sizes = [o.size for o in signature.outputs]
    expected = (*batch, sum(sizes))
    if buffer.shape != expected:
        raise ArgumentError(f"{what} has shape {buffer.shape}, expected {expected}, or a tuple of {len(sizes)} arrays")
    pieces = np.split(buffer, np.cumsum(sizes)[:-1], axis=-1)
    return [
        _reshaped(piece, batch + o.shape, len(batch), what) for piece, o in zip(pieces, signature.outputs, strict=True)
    ]


def _writable(signature: Signature, out: Any, what: str) -> Array:
    if not isinstance(out, np.ndarray):
        raise ArgumentError(f"{what} is a {type(out).__name__}, expected a NumPy array of {signature.dtype}")
    if out.dtype != signature.dtype:
        raise ArgumentError(f"{what} has dtype {out.dtype}, expected {signature.dtype}, the dtype of the build")
    if not out.flags.writeable or not out.flags.aligned:
        raise ArgumentError(f"{what} is read-only or misaligned; pass a writable array such as numpy.empty makes")
    return np.asarray(out)


def _reshaped(buffer: Array, shape: tuple[int, ...], batch_axes: int, what: str) -> Array:
    """Return a view in the given shape; its memory must be in C order, or have the batch last."""
    if buffer.size:
        rows: Array = buffer.reshape((prod(shape[:batch_axes]), -1))
        if not (np.may_share_memory(rows, buffer) and is_regular(rows)):
            raise ArgumentError(
                f"{what} has strides {buffer.strides}; pass a C-contiguous array as numpy.empty makes it, or one whose "
                "batch axes are the last in memory, as numpy.empty((size, batch)).T"
            )
    return buffer.reshape(shape)


def _flat(view: Array, argument: Argument, batch: tuple[int, ...]) -> Array:
    return view.reshape((prod(batch), *argument.shape)) if batch else view
