"""How the results of a batch lie in memory: sample by sample, or entry by entry with the batch last."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid_backends.numpy.arguments import Array
from grid_core.errors import OptionError

BATCH_FIRST, BATCH_LAST = "batch_first", "batch_last"


def checked_layout(value: Any) -> str:
    """Return ``value`` if it is a layout.

    Raises
    ------
    OptionError
        It is neither ``"batch_first"`` nor ``"batch_last"``.
    """
    if value not in (BATCH_FIRST, BATCH_LAST):
        raise OptionError(f"output_layout is {value!r}, expected {BATCH_FIRST!r} or {BATCH_LAST!r}")
    return str(value)


def new_array(batch: tuple[int, ...], sample: tuple[int, ...], dtype: np.dtype[Any], layout: str) -> Array:
    """Return a new array of shape (*batch, *sample), a transposed view if the batch is to be last in memory."""
    if layout == BATCH_FIRST:
        return np.empty(batch + sample, dtype)
    memory = np.empty(sample + batch, dtype)
    return np.moveaxis(memory, range(len(sample)), range(len(batch), memory.ndim))


def is_regular(rows: Array) -> bool:
    """Whether units can write rows (B, size): samples are contiguous and apart, or the batch is and entries are."""
    count, size = rows.shape
    distance, pitch = rows.strides
    item = rows.itemsize
    samples = (size == 1 or pitch == item) and (count == 1 or distance >= size * item)
    return samples or (count > 1 and distance == item and pitch >= count * item)
