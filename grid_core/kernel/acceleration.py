"""Motion of bodies in classical accelerations and body axes, the outward half of the recursive Newton-Euler algorithm.

As in Luh, Walker and Paul, "On-line computational scheme for mechanical manipulators" (1980): the acceleration field of
a body is ``a + U r`` with ``U = [alpha] + [w]^2``, so that linear velocities never appear. Nothing depends on the
position of a floating base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.tree import TracedTree
from grid_core.trace.linalg import ZERO3, Matrix, Vector, cross, matvec, negative, plus, transpose, vector
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Transform

ZERO_FIELD: Matrix = (ZERO3, ZERO3, ZERO3)


@dataclass(frozen=True)
class Acceleration:
    """Angular velocity ``w`` of a body, its ``field`` ``U``, angular acceleration and linear one of the origin."""

    w: Vector
    field: Matrix
    angular: Vector
    linear: Vector


def at_rest(gravity: Sequence[Real]) -> Acceleration:
    """Return the acceleration of the world, which rises against gravity."""
    return Acceleration(ZERO3, ZERO_FIELD, ZERO3, negative(vector(gravity)))


def accelerate(
    tree: TracedTree, i: int, x: Transform, parent: Acceleration, qd: Sequence[Real], qdd: Sequence[Real]
) -> Acceleration:
    """Return the acceleration of body ``i`` in its own axes from its parent's."""
    back = transpose(x.rotation)
    rate, change = tree.joint_motion(i, qd), tree.joint_motion(i, qdd)
    carried = matvec(back, parent.w)
    w = plus(carried, rate.angular)
    angular = plus(plus(matvec(back, parent.angular), cross(carried, rate.angular)), change.angular)
    linear = matvec(back, plus(parent.linear, matvec(parent.field, x.translation)))
    linear = plus(linear, plus(cross(plus(carried, w), rate.linear), change.linear))
    return Acceleration(w, _field(w, angular), angular, linear)


def _field(w: Vector, angular: Vector) -> Matrix:
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    ax, ay, az = angular
    return ((-(yy + zz), xy - az, xz + ay), (xy + az, -(xx + zz), yz - ax), (xz - ay, yz + ax, -(xx + yy)))
