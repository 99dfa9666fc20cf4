"""The acceleration field of a body, ``a + U r`` in its own axes, and the powers of its inertial parameters.

Per unit of mass, first moment and inertia about its origin, a body needs the wrenches

    m: [0; a]        h: [-[a]; U]        I: [N(U); 0]

whose powers on a virtual motion of the body are ten entries of a regressor (Atkeson, An and Hollerbach, "Estimation of
inertial parameters of manipulator loads and links", 1986, in body axes about body origins).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grid_core.kernel.acceleration import Acceleration, accelerate, at_rest
from grid_core.kernel.builder import KernelBuilder
from grid_core.trace.linalg import Matrix, Vector, cross, dot, matvec, plus, transpose
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Symmetric, Transform


@dataclass(frozen=True)
class Field:
    """``linear + U r`` with ``U = spread + [angular]``."""

    linear: Vector
    angular: Vector
    spread: Symmetric

    @classmethod
    def of(cls, x: Sequence[Real]) -> Field:
        return cls(tuple(x[:3]), tuple(x[3:6]), (x[6], x[7], x[8], x[9], x[10], x[11]))

    def flat(self) -> Vector:
        return (*self.linear, *self.angular, *self.spread)

    def matrix(self) -> Matrix:
        """Return ``U``."""
        xx, xy, xz, yy, yz, zz = self.spread
        ax, ay, az = self.angular
        return ((xx, xy - az, xz + ay), (xy + az, yy, yz - ax), (xz - ay, yz + ax, zz))

    def moments(self) -> tuple[Vector, ...]:
        """Return the moments ``N`` per unit of ``Ixx Ixy Ixz Iyy Iyz Izz``."""
        u = self.matrix()
        xx, xy, xz, yy, yz, zz = self.spread
        ax, ay, az = self.angular
        return (
            (ax, xz, -xy),
            (-u[2][0], u[2][1], xx - yy),
            (u[1][0], zz - xx, -u[1][2]),
            (-yz, ay, xy),
            (yy - zz, -u[0][1], u[0][2]),
            (yz, -xz, az),
        )

    def powers(self, s: Motion) -> list[Real]:
        """Return the power of each parameter's wrench on a virtual motion."""
        moment = plus(matvec(transpose(self.matrix()), s.linear), cross(self.linear, s.angular))
        return [dot(s.linear, self.linear), *moment, *(dot(s.angular, n) for n in self.moments())]


def spread_of(w: Vector) -> Symmetric:
    """Return ``[w]^2``."""
    x, y, z = w
    xx, yy, zz = x * x, y * y, z * z
    return (-(yy + zz), x * y, x * z, -(xx + zz), y * z, -(xx + yy))


def body_fields(
    k: KernelBuilder,
    transforms: Sequence[Transform],
    qd: Sequence[Real],
    qdd: Sequence[Real],
    gravity: Sequence[Real],
) -> Iterator[Field]:
    """Yield the field of each body in motion, gravity included."""
    rest = at_rest(gravity)
    moved: list[Acceleration] = []
    for i, parent in enumerate(k.tree.parents):
        with k.section(f"acceleration of {k.model.joints[i].name}"):
            a = accelerate(k.tree, i, transforms[i], moved[parent] if parent >= 0 else rest, qd, qdd)
            moved.append(a)
            yield Field(a.linear, a.angular, spread_of(a.w))
