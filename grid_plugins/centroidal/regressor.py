"""Regressors of inverse and forward dynamics: joint forces are linear in the inertial parameters, ``tau = Y pi``.

The acceleration field of a body is ``a + U r`` in its own axes (:mod:`grid_core.kernel.acceleration`). Per unit of
mass, first moment and inertia it needs the wrenches

    m: [0; a]        h: [-[a]; U]        I: [N(U); 0]

and an entry of ``Y`` is the power of such a wrench on the virtual motion of one coordinate (Atkeson, An and Hollerbach,
"Estimation of inertial parameters of manipulator loads and links", 1986, in body axes about body origins).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.acceleration import Acceleration, accelerate, at_rest
from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import Matrix, Vector, cross, dot, matvec, minus, plus, transpose
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Symmetric
from grid_plugins.centroidal.signature import F_EXT, GRAVITY, QD, QDD, REGRESSOR, Q, U
from grid_plugins.centroidal.virtual import Rates, unit_rates, virtual_motions


@dataclass(frozen=True)
class Field:
    """An acceleration field ``linear + U r`` with ``U = spread + [angular]``, and a row of the regressor for it."""

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

    def row(self, s: Motion) -> list[Real]:
        """Return the power of each parameter's wrench on a virtual motion."""
        moment = plus(matvec(transpose(self.matrix()), s.linear), cross(self.linear, s.angular))
        return [dot(s.linear, self.linear), *moment, *(dot(s.angular, n) for n in self.moments())]


def spread_of(w: Vector) -> Symmetric:
    """Return ``[w]^2``."""
    x, y, z = w
    xx, yy, zz = x * x, y * y, z * z
    return (-(yy + zz), x * y, x * z, -(xx + zz), y * z, -(xx + yy))


def emit_inverse_dynamics_regressor(k: KernelBuilder) -> None:
    motion = (k.input("q"), k.input("qd"), k.input("qdd"), k.input("gravity"))
    k.output("regressor", powers(k, *motion, unit_rates(k.model.nv)))


def powers(
    k: KernelBuilder, q: Sequence[Real], qd: Sequence[Real], qdd: Sequence[Real], gravity: Sequence[Real], rates: Rates
) -> list[list[Real]]:
    """Return, per row of rates, the power of every body's parameters on the virtual motion at these rates."""
    tree = k.tree
    transforms = [tree.transform(i, q) for i in range(k.model.nb)]
    rest = at_rest(gravity)
    moved: list[Acceleration] = []
    found: list[list[Real]] = [[] for _ in rates]
    for i, motions in enumerate(virtual_motions(tree, transforms, rates)):
        parent = tree.parents[i]
        with k.section(f"powers on {k.model.joints[i].name}"):
            a = accelerate(tree, i, transforms[i], moved[parent] if parent >= 0 else rest, qd, qdd)
            moved.append(a)
            field = Field(a.linear, a.angular, spread_of(a.w))
            for row, s in zip(found, motions):
                row.extend(field.row(s))
    return found


def emit_forward_dynamics_parameter_gradient(k: KernelBuilder) -> None:
    q, qd, gravity = k.input("q"), k.input("qd"), k.input("gravity")
    wrenches = {"f_ext": k.input("f_ext")} if k.has("f_ext") else {}
    minv = k.call("minv", q=q)
    force = minus(tuple(k.input("u")), tuple(k.call("inverse_dynamics", q=q, qd=qd, gravity=gravity, **wrenches)))
    rates = [[-x for x in row] for row in minv]
    k.output("gradient", powers(k, q, qd, matvec(minv, force), gravity, rates))


ALGORITHMS = (
    Algorithm(
        name="inverse_dynamics_regressor",
        family="centroidal",
        summary="Inverse dynamics per unit of each inertial parameter: tau = Y pi.",
        inputs=(Q, QD, QDD, GRAVITY),
        outputs=(Output("regressor", REGRESSOR, "Y, ten columns per body in the order of inertia_params"),),
        emit=emit_inverse_dynamics_regressor,
        profiles=("regressor", "fd-param-gradient"),
        notes="pi is inertia_params, body by body. Joint friction, rotor inertia and external wrenches come on top.",
        source="Atkeson, An and Hollerbach, Estimation of inertial parameters of manipulator loads and links, 1986",
    ),
    Algorithm(
        name="forward_dynamics_parameter_gradient",
        family="centroidal",
        summary="Derivative of forward dynamics by the inertial parameters at fixed u: d qdd/d pi = -M^-1 Y.",
        inputs=(Q, QD, U, GRAVITY, F_EXT),
        outputs=(Output("gradient", REGRESSOR, "d qdd/d pi, ten columns per body in the order of inertia_params"),),
        emit=emit_forward_dynamics_parameter_gradient,
        requires=("inverse_dynamics", "minv"),
        profiles=("fd-param-gradient",),
        source="Atkeson, An and Hollerbach, 1986; the implicit function theorem on tau = Y pi",
    ),
)
