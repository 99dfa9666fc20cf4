"""Nested sequences of scalars in declared shapes, and the same scalars one after another."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from grid_core.trace.scalar import Real, Scalar

Nested = Any
"""A nested sequence of scalars in a declared per-sample shape."""


def nest(flat: Sequence[Real], shape: Sequence[int]) -> Nested:
    """Return scalars nested as a shape; without axes the only one."""
    if len(shape) <= 1:
        return list(flat) if shape else flat[0]
    step = prod(shape[1:])
    return [nest(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def flatten(values: Nested, depth: int) -> list[Real]:
    """Return the scalars that are nested so many times."""
    if depth == 0:
        return [values]
    return [x for v in values for x in flatten(v, depth - 1)]


def flatten_any(values: Nested) -> list[Real]:
    """Return the scalars of any nesting."""
    if isinstance(values, (Scalar, int, float)):
        return [values]
    return [x for v in values for x in flatten_any(v)]
