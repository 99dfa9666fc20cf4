"""Calls whose arrays fit into no memory: what is said of them."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.signature import Signature
from grid_core.errors import GridError, OutOfMemoryError


def check_memory(signature: Signature, values: tuple[Any, ...], error: Exception) -> None:
    """Raise if a call failed because there is no memory for its arrays; other errors explain themselves.

    NumPy raises a ValueError for arrays that have no place in the address space.

    Raises
    ------
    OutOfMemoryError
    """
    if isinstance(error, GridError):
        return
    needed = least_bytes(signature, values)
    if isinstance(error, MemoryError) or needed > sys.maxsize:
        raise OutOfMemoryError(
            f"{signature.name}: there is no memory for the arrays of this call, whose results take at least {needed} "
            "bytes; call it with fewer samples at a time"
        ) from error


def least_bytes(signature: Signature, values: tuple[Any, ...]) -> int:
    """Return the bytes that the results of a call take; what a scan has beside its steps is not counted."""
    scan = signature.algorithm.scan
    batch, items = 1, 1
    for argument, value in zip(signature.inputs, values, strict=True):
        if value is None:
            continue
        if getattr(argument.declared, "each", False):
            items = max(items, len(value))
            continue
        shape = value.shape if hasattr(value, "shape") else np.shape(value)
        axes = max(0, len(shape) - len(argument.shape))
        if scan is not None and argument.name in scan.along and axes:
            axes -= 1
            items = max(items, shape[axes])
        batch = max(batch, prod(shape[:axes]))
    return batch * items * sum(o.size for o in signature.outputs) * signature.dtype.itemsize
