"""Articulated-body inertias, and how a joint takes its own directions out of one (Featherstone 2008, ch. 7).

The columns of a joint are taken out one after the other, from the last to the first, as if massless links lay between
them. Every pivot is then a number, and a joint of six degrees of freedom needs nothing that one of one does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.tree import Columns
from grid_core.trace.linalg import Matrix, Vector, madd, matmul, matvec, plus, skew, transpose
from grid_core.trace.scalar import Real, Scalar, is_zero
from grid_core.trace.spatial import Force, Inertia, Motion, Transform, dense


@dataclass(frozen=True)
class Pivot:
    """A column ``s`` of a joint that was taken out: ``U = I^A s``, ``1 / D`` with ``D = s^T U``, and ``U / D``."""

    slot: int
    column: Motion
    force: Force
    inverse_d: Real
    share: Force


@dataclass(frozen=True)
class ArticulatedInertia:
    """The 6x6 matrix ``[[rotational, coupling], [coupling^T, linear]]`` from accelerations to forces."""

    rotational: Matrix
    coupling: Matrix
    linear: Matrix

    @classmethod
    def of(cls, body: Inertia) -> ArticulatedInertia:
        mass = tuple(tuple(body.mass if i == j else 0.0 for j in range(3)) for i in range(3))
        return cls(dense(body.rotational), skew(body.moment), mass)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            madd(self.rotational, other.rotational),
            madd(self.coupling, other.coupling),
            madd(self.linear, other.linear),
        )

    def __mul__(self, a: Motion) -> Force:
        return Force(
            plus(matvec(self.rotational, a.angular), matvec(self.coupling, a.linear)),
            plus(matvec(transpose(self.coupling), a.angular), matvec(self.linear, a.linear)),
        )

    def to_parent(self, x: Transform) -> ArticulatedInertia:
        """Return the same inertia expressed in the parent frame of ``x``."""
        turn = x.rotation
        rotational, coupling, linear = (
            matmul(matmul(turn, block), transpose(turn)) for block in (self.rotational, self.coupling, self.linear)
        )
        p = skew(x.translation)
        moved = madd(coupling, matmul(p, linear))
        shift = madd(matmul(p, transpose(moved)), transpose(matmul(p, transpose(coupling))))
        return ArticulatedInertia(_mirror(madd(rotational, shift)), moved, _mirror(linear))

    def without(self, columns: Columns, armature: Sequence[Real]) -> tuple[ArticulatedInertia, tuple[Pivot, ...]]:
        """Return what is felt through a joint that moves freely along ``columns``, and the pivots in their order.

        The rotor inertia of a velocity slot adds to its pivot.
        """
        left, pivots = self, []
        for slot, column in reversed(columns):
            force = left * column
            inverse_d = 1.0 / (column.power(force) + armature[slot])
            pivots.append(Pivot(slot, column, force, inverse_d, force * inverse_d))
            left = left._less(pivots[-1], armature[slot])
        return left, tuple(reversed(pivots))

    def _less(self, pivot: Pivot, armature: Real) -> ArticulatedInertia:
        """Return ``I^A - U D^-1 U^T``."""
        rows, u, share = self._rows(), pivot.force.flat(), pivot.share.flat()
        for r in range(6):
            for c in range(r, 6):
                rows[r][c] = rows[c][r] = rows[r][c] - share[r] * u[c]
        if is_zero(armature):
            _clear_free_direction(rows, pivot.column.flat())
        block = [tuple(tuple(row[j : j + 3]) for row in rows[i : i + 3]) for i, j in ((0, 0), (0, 3), (3, 3))]
        return ArticulatedInertia(*block)

    def _rows(self) -> list[list[Real]]:
        top = [list(r) + list(c) for r, c in zip(self.rotational, self.coupling)]
        bottom = [list(c) + list(m) for c, m in zip(transpose(self.coupling), self.linear)]
        return top + bottom


def _mirror(m: Matrix) -> Matrix:
    """Take the lower triangle from the upper one, so that equal entries are one scalar."""
    return tuple(tuple(m[min(i, j)][max(i, j)] for j in range(3)) for i in range(3))


def _clear_free_direction(rows: list[list[Real]], column: Vector) -> None:
    """Set to exact zero what is zero by construction: a joint transmits nothing along a unit direction of its own."""
    axes = [r for r, x in enumerate(column) if isinstance(x, Scalar) or x != 0.0]
    if len(axes) == 1:
        for other in range(6):
            rows[axes[0]][other] = rows[other][axes[0]] = 0.0
