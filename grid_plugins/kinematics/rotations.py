"""Rotation matrices as three angles, unit quaternions and rotation vectors, and the rates of these.

Angular velocities are in world axes: ``R' = skew(w) R``.
"""

from __future__ import annotations

from dataclasses import dataclass

from grid_core.trace.functions import atan2, less, maximum, select, sqrt
from grid_core.trace.lie import quaternion_of
from grid_core.trace.linalg import IDENTITY3, Matrix, Vector, madd, outer, scale, skew
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
