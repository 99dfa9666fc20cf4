"""The general way to call a function: normalise the arguments, call it, give the result its batch axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array, normalise
from grid_backends.numpy.buffers import bind_out
from grid_backends.numpy.record import Call
from grid_backends.numpy.signature import Signature
from grid_core.errors import GridError


def call_general(signature: Signature, call: Call, values: tuple[Any, ...], out: Any, *where: Any) -> Any:
    """Call with arguments of any accepted form; ``where`` goes to the function as it is.

    Raises
    ------
    ArgumentError
        See :func:`~grid_backends.numpy.arguments.normalise` and :func:`~grid_backends.numpy.buffers.bind_out`.
    """
    arguments = normalise(signature, values)
    if out is None:
        result = checked(call(arguments.arrays, None, *where), signature)
        outputs = (result,) if signature.result is None else result
        return _pack(signature, outputs, arguments.batch)
    buffers = bind_out(signature, out, arguments.batch)
    inputs = tuple(apart(a, buffers.arrays) for a in arguments.arrays)
    checked(call(inputs, buffers.arrays, *where), signature)
    return buffers.answer


def _pack(signature: Signature, outputs: Sequence[Array], batch: tuple[int, ...]) -> Any:
    """Return outputs of shape (B, ...) in their declared shapes, as one array or as the named tuple."""
    arrays = [a.reshape(batch + o.shape) for a, o in zip(outputs, signature.outputs, strict=True)]
    return arrays[0] if signature.result is None else signature.result(*arrays)


def apart(array: Array | None, buffers: Sequence[Array]) -> Array | None:
    """Return the input, copied if writing results could change it."""
    overlapping = array is not None and any(np.may_share_memory(array, b) for b in buffers)
    return np.array(array) if overlapping else array


def checked(result: Any, signature: Signature) -> Any:
    """Return the result of a call with canonical arguments, which no function may refuse."""
    if result is NotImplemented:
        raise GridError(f"{signature.name}: the runner refused canonical arguments; this is a defect, please report it")
    return result
