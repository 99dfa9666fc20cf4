"""Products ``J^T diag(w) J``: sparse rows of ``J`` written out, many dense ones as a loop."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from grid_core.kernel.builder import KernelBuilder, Row
from grid_core.trace.linalg import Matrix, dot
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.plant.terms import Values

WRITTEN_OUT = 6000
"""Products of two entries up to which dense rows are written out."""

Triangle = list[list[Real]]
"""The lower triangle of a symmetric matrix, row by row."""


def congruence(k: KernelBuilder, rows: Sequence[Values], weights: Values, width: int) -> Matrix:
    """Return ``J^T diag(w) J``, which is symmetric, from the rows of ``J``."""
    dense = [n for n, row in enumerate(rows) if 2 * sum(isinstance(x, Scalar) for x in row) > width]
    looped = set(dense) if len(dense) * width * (width + 1) > 2 * WRITTEN_OUT else set()
    written = [n for n in range(len(rows)) if n not in looped]
    lower = _written_out([rows[n] for n in written], [weights[n] for n in written], width)
    if looped:
        columns = [i for i in range(width) if any(isinstance(rows[n][i], Scalar) for n in dense)]
        more = _looped(k, [[rows[n][i] for i in columns] for n in dense], [weights[n] for n in dense])
        for i, row in zip(columns, more):
            for j, x in zip(columns, row):
                lower[i][j] = lower[i][j] + x
    return tuple(tuple(lower[max(i, j)][min(i, j)] for j in range(width)) for i in range(width))


def _written_out(rows: Sequence[Values], weights: Values, width: int) -> Triangle:
    columns = [[row[i] for row in rows] for i in range(width)]
    weighted = [[w * x for w, x in zip(weights, column)] for column in columns]
    return [[dot(weighted[i], columns[j]) for j in range(i + 1)] for i in range(width)]


def _looped(k: KernelBuilder, rows: Sequence[Values], weights: Values) -> Triangle:
    """Return the triangle to which each row adds."""
    width = len(rows[0])
    first = [0, *accumulate(range(1, width + 1))]
    kept, scales = k.array("rows", [x for row in rows for x in row]), k.array("weights", list(weights))
    total = k.array("lower triangle", [0.0] * first[-1])

    def body(row: Row) -> None:
        own, weight = [row.load(kept, 0, i) for i in range(width)], row.load(scales, 1)
        for i in range(width):
            scaled = weight * own[i]
            for j in range(i + 1):
                row.accumulate(total, 2, scaled * own[j], first[i] + j)

    k.loop([(width * n, n, 0) for n in range(len(rows))], body)
    values = total.values()
    return [list(values[first[i] : first[i + 1]]) for i in range(width)]
