"""Matrices as lists of rows, where structural zeros are constants."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.trace.linalg import Vector
from grid_core.trace.scalar import Real

Rows = list[Vector]


def identity(n: int, value: Real = 1.0) -> Rows:
    return [tuple(value if i == j else 0.0 for j in range(n)) for i in range(n)]


def zeros(n: int, m: int) -> Rows:
    return [(0.0,) * m] * n


def side_by_side(*blocks: Sequence[Sequence[Real]]) -> Rows:
    return [tuple(x for row in rows for x in row) for rows in zip(*blocks)]


def flat(rows: Sequence[Sequence[Real]]) -> list[Real]:
    return [x for row in rows for x in row]


def cut(values: Sequence[Real], width: int) -> Rows:
    """Return the rows of a matrix from its entries; the inverse of :func:`flat`."""
    return [tuple(values[i : i + width]) for i in range(0, len(values), width)]
