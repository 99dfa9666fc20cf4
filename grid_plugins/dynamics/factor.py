"""Sparse ``L^T D L`` factorisation of the mass matrix (Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 6).

Eliminating from the leaves to the root creates no fill-in: an entry that couples two branches is the constant zero
before and after. Zeros are recognised as constants, so the tree is never consulted and mimic joints need no special
case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.trace.linalg import Matrix
from grid_core.trace.scalar import Real, Scalar


@dataclass(frozen=True)
class Factor:
    """``M = L^T D L`` with ``L`` unit lower triangular; ``inverse_d`` holds ``1 / D``."""

    lower: Matrix
    inverse_d: tuple[Real, ...]

    def solve(self, b: Sequence[Real]) -> list[Real]:
        """Return ``M^-1 b``."""
        x = list(b)
        n = len(x)
        for k in reversed(range(n)):
            for i in range(k):
                x[i] = x[i] - self.lower[k][i] * x[k]
        x = [value * d for value, d in zip(x, self.inverse_d)]
        for k in range(n):
            for i in range(k):
                x[k] = x[k] - self.lower[k][i] * x[i]
        return x

    def inverse(self) -> Matrix:
        """Return ``M^-1 = L^-1 D^-1 L^-T``, symmetric."""
        n = len(self.inverse_d)
        inverse_l = self._inverse_lower()
        scaled = [[x * d for x, d in zip(row, self.inverse_d)] for row in inverse_l]
        result: list[list[Real]] = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                entry: Real = 0.0
                for k in range(j + 1):
                    entry = entry + scaled[i][k] * inverse_l[j][k]
                result[i][j] = result[j][i] = entry
        return tuple(map(tuple, result))

    def _inverse_lower(self) -> list[list[Real]]:
        n = len(self.inverse_d)
        rows: list[list[Real]] = []
        for i in range(n):
            row: list[Real] = [0.0] * n
            row[i] = 1.0
            for k in range(i):
                for j in range(k + 1):
                    row[j] = row[j] - self.lower[i][k] * rows[k][j]
            rows.append(row)
        return rows


def factor(m: Sequence[Sequence[Real]]) -> Factor:
    """Factorise a symmetric positive definite matrix, of which the lower triangle is read."""
    n = len(m)
    h = [list(row) for row in m]
    inverse_d: list[Real] = [0.0] * n
    for k in reversed(range(n)):
        inverse_d[k] = 1.0 / h[k][k]
        coupled = [i for i in range(k) if isinstance(h[k][i], Scalar) or h[k][i] != 0.0]
        for i in reversed(coupled):
            a = h[k][i] * inverse_d[k]
            for j in coupled:
                if j <= i:
                    h[i][j] = h[i][j] - a * h[k][j]
            h[k][i] = a
    lower = tuple(tuple(h[i][j] if j < i else float(i == j) for j in range(n)) for i in range(n))
    return Factor(lower, tuple(inverse_d))
