"""Spatial algebra over symbolic scalars, angular part first (Featherstone 2008, ch. 2).

The classes keep the structure (a transform is a rotation and a position, an inertia ten numbers), so that structural
zeros and constants of a robot fold while an algorithm is traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from grid_core.trace.linalg import (
    IDENTITY3,
    ZERO3,
    Matrix,
    Vector,
    cross,
    dot,
    matmul,
    matvec,
    minus,
    plus,
    scale,
    skew,
    transpose,
)
from grid_core.trace.scalar import Real

T = TypeVar("T", bound="_Pair")


@dataclass(frozen=True)
class _Pair:
    angular: Vector
    linear: Vector

    def __add__(self: T, other: T) -> T:
        return type(self)(plus(self.angular, other.angular), plus(self.linear, other.linear))

    def __sub__(self: T, other: T) -> T:
        return type(self)(minus(self.angular, other.angular), minus(self.linear, other.linear))

    def __mul__(self: T, s: Real) -> T:
        return type(self)(scale(self.angular, s), scale(self.linear, s))

    @classmethod
    def of(cls: type[T], six: Sequence[Real]) -> T:
        return cls(tuple(six[:3]), tuple(six[3:]))

    @classmethod
    def zero(cls: type[T]) -> T:
        return cls(ZERO3, ZERO3)

    def flat(self) -> Vector:
        return self.angular + self.linear


@dataclass(frozen=True)
class Motion(_Pair):
    """A spatial velocity or acceleration: ``[w; v]`` with ``v`` at the origin of the frame it is expressed in."""

    def cross_motion(self, m: Motion) -> Motion:
        return Motion(
            cross(self.angular, m.angular), plus(cross(self.angular, m.linear), cross(self.linear, m.angular))
        )

    def cross_force(self, f: Force) -> Force:
        return Force(plus(cross(self.angular, f.angular), cross(self.linear, f.linear)), cross(self.angular, f.linear))

    def power(self, f: Force) -> Real:
        """Return the scalar product with a force."""
        return dot(self.angular, f.angular) + dot(self.linear, f.linear)


@dataclass(frozen=True)
class Force(_Pair):
    """A spatial force: ``[n; f]`` with the moment ``n`` about the origin of the frame it is expressed in."""


@dataclass(frozen=True)
class Transform:
    """The pose of a child frame in its parent: ``x_parent = rotation x_child + translation``."""

    rotation: Matrix = IDENTITY3
    translation: Vector = ZERO3

    def __matmul__(self, other: Transform) -> Transform:
        return Transform(
            matmul(self.rotation, other.rotation), plus(matvec(self.rotation, other.translation), self.translation)
        )

    def motion_to_child(self, m: Motion) -> Motion:
        back = transpose(self.rotation)
        return Motion(matvec(back, m.angular), matvec(back, plus(m.linear, cross(m.angular, self.translation))))

    def motion_to_parent(self, m: Motion) -> Motion:
        w = matvec(self.rotation, m.angular)
        return Motion(w, plus(matvec(self.rotation, m.linear), cross(self.translation, w)))

    def force_to_parent(self, f: Force) -> Force:
        linear = matvec(self.rotation, f.linear)
        return Force(plus(matvec(self.rotation, f.angular), cross(self.translation, linear)), linear)


Symmetric = tuple[Real, Real, Real, Real, Real, Real]
"""A symmetric 3x3 matrix as ``xx xy xz yy yz zz``."""


def symmetric(m: Matrix) -> Symmetric:
    return (m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2])


def dense(s: Symmetric) -> Matrix:
    return ((s[0], s[1], s[2]), (s[1], s[3], s[4]), (s[2], s[4], s[5]))


def rotate_symmetric(r: Matrix, s: Symmetric) -> Symmetric:
    """Return ``r s r^T``, computing six entries only."""
    half = matmul(r, dense(s))
    return (
        dot(half[0], r[0]),
        dot(half[0], r[1]),
        dot(half[0], r[2]),
        dot(half[1], r[1]),
        dot(half[1], r[2]),
        dot(half[2], r[2]),
    )


@dataclass(frozen=True)
class Inertia:
    """A rigid-body inertia: mass, first moment ``h = m c``, rotational inertia about the frame's origin."""

    mass: Real
    moment: Vector
    rotational: Symmetric

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(
            self.mass + other.mass,
            plus(self.moment, other.moment),
            tuple(plus(self.rotational, other.rotational)),  # type: ignore[arg-type]
        )

    def __mul__(self, m: Motion) -> Force:
        angular = plus(matvec(dense(self.rotational), m.angular), cross(self.moment, m.linear))
        return Force(angular, minus(scale(m.linear, self.mass), cross(self.moment, m.angular)))

    def to_parent(self, x: Transform) -> Inertia:
        """Return the same inertia expressed in the parent frame of ``x`` (parallel-axis theorem, no square roots)."""
        h = matvec(x.rotation, self.moment)
        p, m = x.translation, self.mass
        both = plus(h, plus(h, scale(p, m)))
        # -( [h][p] + [p][h] + m [p][p] ) = (p.(2h + m p)) 1 - sym(p (2h + m p)^T)
        trace = dot(p, both)
        half = scale(p, 0.5)
        s = tuple((both[i] * half[j] + half[i] * both[j]) for i, j in _UPPER)
        turned = rotate_symmetric(x.rotation, self.rotational)
        shifted = tuple(a - b + (trace if i == j else 0.0) for a, b, (i, j) in zip(turned, s, _UPPER))
        return Inertia(m, plus(h, scale(p, m)), shifted)  # type: ignore[arg-type]


_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def skew_product(a: Vector, b: Vector) -> Matrix:
    """Return ``skew(a) skew(b) = b a^T - (a.b) 1``."""
    return matmul(skew(a), skew(b))
