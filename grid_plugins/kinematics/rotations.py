"""Rotation matrices as three angles, unit quaternions and rotation vectors, and the rates of these.

Angular velocities are in world axes: ``R' = skew(w) R``.
"""

from __future__ import annotations

from dataclasses import dataclass

from grid_core.trace.functions import atan2, less, maximum, select, sqrt
from grid_core.trace.linalg import IDENTITY3, Matrix, Vector, dot, madd, outer, scale, skew
from grid_core.trace.scalar import Real

LEAST = 1e-30
"""Squares below this count as this: their roots are far below what rounding leaves of a rotation matrix."""


def rpy_of(r: Matrix) -> Vector:
    """Return roll, pitch in [-pi/2, pi/2] and yaw with ``r = Rz(yaw) Ry(pitch) Rx(roll)``."""
    cosine = sqrt(r[2][1] * r[2][1] + r[2][2] * r[2][2])
    return (atan2(r[2][1], r[2][2]), atan2(-r[2][0], cosine), atan2(r[1][0], r[0][0]))


@dataclass(frozen=True)
class RpyRates:
    """The map from angular velocities to rates of roll, pitch and yaw at a rotation.

    At a pitch of +-90 degrees roll and yaw turn about one axis, so that no such map exists; what is returned there is
    finite and means nothing.
    """

    along: tuple[Real, Real]
    """``(cos yaw, sin yaw) / cos pitch``"""
    across: tuple[Real, Real]
    """``(cos yaw, sin yaw)``"""
    sine: Real
    """``sin pitch``"""
    cosine: Real
    secant: Real
    """``1 / cos pitch``"""

    @classmethod
    def at(cls, r: Matrix) -> RpyRates:
        cosine = sqrt(maximum(r[0][0] * r[0][0] + r[1][0] * r[1][0], LEAST))
        secant = 1.0 / cosine
        across = (r[0][0] * secant, r[1][0] * secant)
        return cls((across[0] * secant, across[1] * secant), across, -r[2][0], cosine, secant)

    def of(self, w: Vector) -> Vector:
        """Return the rates of roll, pitch and yaw under an angular velocity."""
        roll = self.along[0] * w[0] + self.along[1] * w[1]
        return (roll, self.across[0] * w[1] - self.across[1] * w[0], w[2] + self.sine * roll)

    def change(self, rates: Vector, turning: Vector) -> Vector:
        """Return how the rates under a constant angular velocity change while the angles themselves change.

        Parameters
        ----------
        rates : Vector
            Rates of the angles under the angular velocity.
        turning : Vector
            Rates at which the angles change.
        """
        (roll, pitch, _), (_, lean, turn) = rates, turning
        tangent = self.sine * self.secant
        return (
            pitch * (turn * self.secant) + roll * (lean * tangent),
            -roll * (turn * self.cosine),
            pitch * (turn * tangent) + roll * (lean * self.secant),
        )


def quaternion_of(r: Matrix) -> Vector:
    """Return the unit quaternion ``x y z w`` of a rotation with ``w >= 0``.

    The four products of its largest entry with all entries come from sums in which nothing cancels (Shepperd,
    Quaternion from rotation matrix, 1978); their length needs no further knowledge.
    """
    (a, xy, xz), (yx, b, yz), (zx, zy, c) = r
    by_x = (1.0 + a - b - c, xy + yx, xz + zx, zy - yz)
    by_y = (xy + yx, 1.0 - a + b - c, yz + zy, xz - zx)
    by_z = (xz + zx, yz + zy, 1.0 - a - b + c, yx - xy)
    by_w = (zy - yz, xz - zx, yx - xy, 1.0 + a + b + c)
    products = _larger(_larger((by_w[3], by_w), (by_x[0], by_x)), _larger((by_y[1], by_y), (by_z[2], by_z)))[1]
    length = sqrt(dot(products, products))
    return scale(products, select(less(products[3], 0.0), -1.0, 1.0) / length)


def _larger(one: tuple[Real, Vector], other: tuple[Real, Vector]) -> tuple[Real, Vector]:
    more = less(one[0], other[0])
    return select(more, other[0], one[0]), tuple(select(more, y, x) for x, y in zip(one[1], other[1]))


@dataclass(frozen=True)
class RotationVector:
    """The logarithm of a rotation: axis times angle in [0, pi].

    At an angle of pi the axis has two directions; either is returned.
    """

    vector: Vector
    rates: Matrix
    """The map from angular velocities to rates of the vector, the inverse of the left Jacobian of SO(3)."""

    @classmethod
    def of(cls, r: Matrix) -> RotationVector:
        """Return the logarithm with its rates (Sola, Deray, Atchuthan, A micro Lie theory, 2018, eq. 133, 146)."""
        x, y, z, w = quaternion_of(r)
        square = x * x + y * y + z * z
        turned = less(LEAST, square)
        sine = sqrt(select(turned, square, 1.0))
        per_sine = select(turned, 2.0 * atan2(sine, w) / sine, 2.0)
        phi = scale((x, y, z), per_sine)
        angle_square = per_sine * per_sine * square
        near = less(square, 1e-4)
        closed = (1.0 - 0.5 * per_sine * w) / select(near, 1.0, angle_square)
        second = select(near, 1.0 / 12.0 + angle_square * (1.0 / 720.0), closed)
        # 1 - [phi]/2 + c [phi]^2 with [phi]^2 = phi phi^T - |phi|^2 1
        diagonal = 1.0 - second * angle_square
        rates = madd(
            madd(tuple(scale(row, diagonal) for row in IDENTITY3), tuple(scale(row, -0.5) for row in skew(phi))),
            outer(scale(phi, second), phi),
        )
        return cls(phi, rates)
