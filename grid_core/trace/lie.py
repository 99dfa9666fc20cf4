"""Rotations and rigid motions over symbolic scalars: exponential, logarithm and their Jacobians.

Everything is smooth and free of NaN at every angle: coefficients are functions of the squared angle, by power series
for small ones and in closed form for the others; both branches are finite, so that derivatives of the traced graph are
too. A rigid motion has the coordinates ``[rho; phi]``, linear before angular, and the position ``V(phi) rho``.

Source: Sola, Deray and Atchuthan, "A micro Lie theory for state estimation in robotics" (2018); Barfoot, State
Estimation for Robotics, 2017, ch. 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from grid_core.trace.functions import atan2, cos, less, select, sin, sqrt
from grid_core.trace.linalg import (
    IDENTITY3,
    Matrix,
    Vector,
    cross,
    dot,
    madd,
    matmul,
    minus,
    outer,
    plus,
    scale,
    skew,
    transpose,
)
from grid_core.trace.scalar import Real, Scalar

SMALL_TURN = 1.0
"""Squared angles below this (rad^2) use power series for the exponential; the closed forms cancel there."""

SMALL_LOG = 0.03
"""The same for the logarithm, of the squared tangent of half the angle."""

TERMS = 9
"""Terms of the exponential's series: the next one is below 1e-17 of the first."""

ARCTANGENT = tuple((-1.0) ** n / (2 * n + 1) for n in range(11))
"""``atan(t) / t`` in powers of ``t^2``."""

COTANGENT = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600)
"""``(1 - h cot h) / (2 h)^2`` in powers of ``(2 h)^2``: Bernoulli numbers over factorials."""


def polynomial(coefficients: Sequence[float], x: Real) -> Real:
    """Evaluate a polynomial by Horner's rule, lowest power first."""
    value: Real = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value


def quaternion_multiply(a: Sequence[Real], b: Sequence[Real]) -> Vector:
    """Return the Hamilton product of quaternions ``x y z w``."""
    av, aw, bv, bw = tuple(a[:3]), a[3], tuple(b[:3]), b[3]
    return (*plus(plus(scale(bv, aw), scale(av, bw)), cross(av, bv)), aw * bw - dot(av, bv))


def conjugate(quaternion: Sequence[Real]) -> Vector:
    x, y, z, w = quaternion
    return (-x, -y, -z, w)


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


def normalised(quaternion: Sequence[Real]) -> Vector:
    return scale(tuple(quaternion), 1.0 / sqrt(dot(quaternion, quaternion)))


def adjoint(m: Sequence[Real], x: Sequence[Real]) -> Vector:
    """Return the Lie bracket of motions ``[rho; phi]`` or ``[phi]``: how ``x`` changes while carried along ``m``."""
    if len(m) == 3:
        return cross(tuple(m), tuple(x))
    rho, phi, linear, angular = tuple(m[:3]), tuple(m[3:]), tuple(x[:3]), tuple(x[3:])
    return (*plus(cross(phi, linear), cross(rho, angular)), *cross(phi, angular))


@dataclass(frozen=True)
class Turn:
    """A rotation vector ``phi`` and what its exponential is made of.

    ``c(k)`` are Stumpff's functions of the squared angle ``x``, ``c_k(x) = sum_n (-x)^n / (2 n + k)!``: cosine, sine
    over angle, and so on with ``c_k = 1 / k! - x c_(k+2)`` and ``2 d c_k / d x = k c_(k+2) - c_(k+1)``.
    """

    phi: Vector

    @cached_property
    def square(self) -> Real:
        return dot(self.phi, self.phi)

    @cached_property
    def _small(self) -> Scalar | bool:
        return less(self.square, SMALL_TURN)

    @cached_property
    def _safe(self) -> tuple[Real, Real]:
        """Squared angle and angle; one where the series are used, so that the closed forms stay finite."""
        square = select(self._small, 1.0, self.square)
        return square, sqrt(square)

    @cached_property
    def _half(self) -> tuple[Real, Real]:
        half = 0.5 * self._safe[1]
        return sin(half), cos(half)

    def c(self, k: int) -> Real:
        """Return Stumpff's function ``k``, from 0 to 5."""
        return select(self._small, self._series(k), self._closed(k))

    def _series(self, k: int) -> Real:
        if k > 3:
            return polynomial([(-1.0) ** n / math.factorial(2 * n + k) for n in range(TERMS)], self.square)
        return 1.0 / math.factorial(k) - self.square * self._series(k + 2)

    def _closed(self, k: int) -> Real:
        square, angle = self._safe
        sine, cosine = self._half
        if k == 0:
            return 1.0 - 2.0 * sine * sine
        if k == 1:
            return 2.0 * sine * cosine / angle
        if k == 2:
            return 2.0 * sine * sine / square
        return (1.0 / math.factorial(k - 2) - self._closed(k - 2)) / square

    def quaternion(self) -> Vector:
        """Return a positive multiple of the unit quaternion ``x y z w``."""
        sine, cosine = self._half
        vector = select(self._small, self._series(1), sine / self._safe[1])
        return (*scale(self.phi, vector), select(self._small, 1.0 + self._series(0), cosine))

    def rotation(self) -> Matrix:
        """Return ``exp([phi])``."""
        return self._combined(self.c(0), self.c(1), self.c(2))

    def right_jacobian(self) -> Matrix:
        """Return ``J_r``: ``exp(phi + d) = exp(phi) exp(J_r d)`` to first order."""
        return self._combined(self.c(1), -self.c(2), self.c(3))

    def _combined(self, identity: Real, turning: Real, squared: Real) -> Matrix:
        square = outer(self.phi, scale(self.phi, squared))
        return madd(madd(diagonal(identity), skew(scale(self.phi, turning))), square)

    def carried(self, rho: Vector) -> Vector:
        """Return ``V(phi) rho``, the position of a rigid motion; ``V`` is the left Jacobian."""
        along = self.c(3) * dot(self.phi, rho)
        return plus(plus(scale(rho, self.c(1)), scale(cross(self.phi, rho), self.c(2))), scale(self.phi, along))

    def carried_gradient(self, rho: Vector) -> Matrix:
        """Return the derivative of ``V(phi) rho`` along ``phi``."""
        phi, along = self.phi, dot(self.phi, rho)
        left = scale(rho, self.c(3) - self.c(2))
        left = plus(left, scale(cross(phi, rho), 2.0 * self.c(4) - self.c(3)))
        left = plus(left, scale(phi, (3.0 * self.c(5) - self.c(4)) * along))
        rest = madd(skew(scale(rho, -self.c(2))), outer(scale(phi, self.c(3)), rho))
        return madd(madd(outer(left, phi), rest), diagonal(self.c(3) * along))

    def coupling(self, rho: Vector) -> Matrix:
        """Return the upper right block ``Q`` of the right Jacobian of a rigid motion, ``[[J_r, Q], [0, J_r]]``."""
        return matmul(transpose(self.rotation()), self.carried_gradient(rho))


@dataclass(frozen=True)
class Log:
    """The rotation vector of a quaternion of either sign and any length, and the inverse Jacobians there.

    With half the angle ``h``, squared angle ``x``, ``g = h cot h`` and ``e = (1 - g) / x``, the inverse of the left
    Jacobian is ``V^-1 = g 1 - [phi] / 2 + e phi phi^T``. The angle is at most pi, where the logarithm jumps.
    """

    quaternion: Vector

    @cached_property
    def _upper(self) -> tuple[Vector, Real]:
        """Vector and scalar part of the same rotation with a scalar part of at least zero."""
        sign = select(less(self.quaternion[3], 0.0), -1.0, 1.0)
        return scale(self.quaternion[:3], sign), self.quaternion[3] * sign

    @cached_property
    def _small(self) -> Scalar | bool:
        vector, w = self._upper
        return less(dot(vector, vector), SMALL_LOG * (w * w))

    @cached_property
    def _safe(self) -> tuple[Real, Real, Real]:
        """Sine and cosine of half the angle, up to a factor, and half the angle; where no series is used."""
        vector, w = self._upper
        sine = sqrt(select(self._small, 1.0, dot(vector, vector)))
        return sine, w, atan2(sine, w)

    @cached_property
    def phi(self) -> Vector:
        """The rotation vector."""
        vector, w = self._upper
        sine, _, half = self._safe
        cosine = select(self._small, w, 1.0)
        tangent = scale(vector, 1.0 / cosine)
        series = 2.0 * polynomial(ARCTANGENT, dot(tangent, tangent)) / cosine
        return scale(vector, select(self._small, series, 2.0 * half / sine))

    @cached_property
    def square(self) -> Real:
        return dot(self.phi, self.phi)

    @cached_property
    def _coefficients(self) -> tuple[Real, Real, Real, Real]:
        """Return ``g``, ``e`` and ``2 d g / d x``, ``2 d e / d x``."""
        x = self.square
        e = polynomial(COTANGENT, x)
        rate = 2.0 * polynomial([n * c for n, c in enumerate(COTANGENT)][1:], x)
        series = (1.0 - x * e, e, -2.0 * e - x * rate, rate)
        g, e, g_rate, e_rate = (select(self._small, near, far) for near, far in zip(series, self._closed()))
        return g, e, g_rate, e_rate

    def _closed(self) -> tuple[Real, Real, Real, Real]:
        sine, cosine, half = self._safe
        x = 4.0 * half * half
        g = half * cosine / sine
        e = (1.0 - g) / x
        rate = (g - g * g - 0.25 * x) / x
        return g, e, rate, -(2.0 * e + rate) / x

    def left_inverse(self) -> Matrix:
        """Return ``V^-1``, the inverse of the left Jacobian; its transpose is that of the right one."""
        g, e, _, _ = self._coefficients
        turning = skew(scale(self.phi, -0.5))
        return madd(madd(diagonal(g), turning), outer(self.phi, scale(self.phi, e)))

    def released(self, position: Vector) -> Vector:
        """Return ``rho = V^-1 position``."""
        g, e, _, _ = self._coefficients
        along = scale(self.phi, e * dot(self.phi, position))
        return plus(minus(scale(position, g), scale(cross(self.phi, position), 0.5)), along)

    def released_gradient(self, position: Vector) -> Matrix:
        """Return the derivative of ``V^-1 position`` along ``phi``."""
        _, e, g_rate, e_rate = self._coefficients
        phi, along = self.phi, dot(self.phi, position)
        left = plus(scale(position, g_rate), scale(phi, e_rate * along))
        rest = madd(skew(scale(position, 0.5)), outer(scale(phi, e), position))
        return madd(madd(outer(left, phi), rest), diagonal(e * along))


def diagonal(x: Real) -> Matrix:
    """Return ``x`` times the 3x3 identity."""
    return tuple(tuple(x * entry for entry in row) for row in IDENTITY3)


def block_upper(diagonal_block: Matrix, upper_right: Matrix) -> Matrix:
    """Return the 6x6 matrix ``[[a, b], [0, a]]``."""
    top = [(*a, *b) for a, b in zip(diagonal_block, upper_right)]
    return (*top, *((0.0, 0.0, 0.0, *a) for a in diagonal_block))
