"""Products ``J^T diag(w) J``: sparse rows of ``J`` written out, many dense ones as loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from grid_core.kernel.builder import KernelBuilder, Row
from grid_core.trace.linalg import Matrix
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.plant.terms import Values

WRITTEN_OUT = 20_000
"""Products of two entries up to which dense rows are written out."""

BLOCK = (4, 4)
"""Rows and columns of what the loop makes at a time: sums that fit registers, and read little for what they add."""

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
    """Return the triangle two rows at a time, so that what one entry reads serves the other, too."""
    columns = [[row[i] for row in rows] for i in range(width)]
    weighted = [[w * x for w, x in zip(weights, column)] for column in columns]
    lower: Triangle = [[0.0] * (i + 1) for i in range(width)]
    for top in range(0, width, 2):
        pair = range(top, min(top + 2, width))
        for j in range(pair.stop):
            for n, factor in enumerate(columns[j]):
                for i in pair:
                    if j <= i:
                        lower[i][j] = lower[i][j] + weighted[i][n] * factor
    return lower


def _looped(k: KernelBuilder, rows: Sequence[Values], weights: Values) -> Triangle:
    """Return the triangle of dense rows, a block of entries after the other."""
    width = len(rows[0])
    first = [0, *accumulate(range(1, width + 1))]
    kept, scales = k.array("rows", [x for row in rows for x in row]), k.array("weights", list(weights))
    scaled = k.array("weighted rows", [None] * kept.size)
    total = k.array("lower triangle", [None] * first[-1])

    def weigh(row: Row) -> None:
        for i in range(width):
            row.store(scaled, 0, row.load(scales, 1) * row.load(kept, 0, i), i)

    def multiply(row: Row) -> None:
        sums: list[Real] = [0.0] * len(block)
        for begin in range(0, kept.size, width):
            for n, (i, j) in enumerate(block):
                sums[n] = sums[n] + row.load(scaled, 0, begin + i) * row.load(kept, 1, begin + j)
        for n, entry in enumerate(sums):
            row.store(total, 2 + n, entry)

    def places(top: int, left: int) -> list[int]:
        pairs = [(top + i, left + j) for i, j in block]
        return [first[max(pair)] + min(pair) for pair in pairs]

    height, breadth = (min(side, width) for side in BLOCK)
    block = [(i, j) for i in range(height) for j in range(breadth)]
    corners = [(i, j) for i in _begins(width, height) for j in _begins(width, breadth) if j < i + height]
    k.loop([(width * n, n) for n in range(len(rows))], weigh)
    k.loop([(i, j, *places(i, j)) for i, j in corners], multiply)
    values = total.values()
    return [list(values[first[i] : first[i + 1]]) for i in range(width)]


def _begins(width: int, length: int) -> list[int]:
    """Return where stretches of a length begin that cover a width; the last one may overlap the one before."""
    return [min(begin, width - length) for begin in range(0, width, length)]
