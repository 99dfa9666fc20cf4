"""First derivatives of inverse and forward dynamics along the tangent, and the Coriolis matrix.

The recursion of Singh, Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial
vector algebra" (2022), in the ground frame of :mod:`grid_core.kernel.ground`.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.ground import Column, Ground, ground_motion
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import dot, minus, scale
from grid_core.trace.scalar import Real
from grid_plugins.dynamics.free_base import unfelt_columns
from grid_plugins.dynamics.mass_factor import mass_factor
from grid_plugins.dynamics.signature import F_EXT_SHARED, GRADIENT, GRAVITY, QD, QDD, SQUARE, UNUSED_GRAVITY, Q, U

Entries = list[list[Real]]


def _square(k: KernelBuilder) -> Entries:
    return [[0.0] * k.model.nv for _ in range(k.model.nv)]


def inverse_dynamics_derivatives(
    k: KernelBuilder,
    q: Sequence[Real],
    qd: Sequence[Real],
    qdd: Sequence[Real],
    gravity: Sequence[Real],
    f_ext: Sequence[Real] | None,
) -> tuple[Entries, Entries]:
    """Return ``d tau / d q`` along the tangent and ``d tau / d qd``, joint friction included."""
    ground = ground_motion(k, q, qd, qdd, gravity, f_ext)
    dq, dv = _square(k), _square(k)
    with k.section("columns"):
        for i in reversed(range(k.model.nb)):
            with k.section(k.model.joints[i].name):
                for column in ground.columns[i]:
                    _fill(ground, i, column, dq, dv)
    _, slope = k.tree.joint_friction(qd)
    for slot, rate in enumerate(slope):
        dv[slot][slot] = dv[slot][slot] + rate
    return dq, dv


def _fill(ground: Ground, i: int, column: Column, dq: Entries, dv: Entries) -> None:
    """Fill what couples one column of body ``i`` with the columns of the body and of its ancestors."""
    subtree, slot = ground.composites[i], column.slot
    along = subtree.inertia * column.s
    drag = subtree.coriolis.transposed(column.s)
    for other in ground.columns[i]:
        _add(dq, slot, other.slot, dot(drag, other.turned.angular) + other.accelerated.power(along))
        _add(dv, slot, other.slot, dot(drag, other.s.angular) + other.moving.power(along))
    by_position = (
        subtree.inertia * column.accelerated + subtree.coriolis * column.turned + column.s.cross_force(subtree.force)
    )
    by_velocity = subtree.coriolis * column.s + subtree.inertia * column.moving
    for j in ground.ancestors(i):
        for other in ground.columns[j]:
            _add(dq, other.slot, slot, other.s.power(by_position))
            _add(dv, other.slot, slot, other.s.power(by_velocity))
            _add(dq, slot, other.slot, dot(drag, other.turned.angular) + other.accelerated.power(along))
            _add(dv, slot, other.slot, dot(drag, other.s.angular) + other.moving.power(along))


def _add(m: Entries, row: int, column: int, value: Real) -> None:
    m[row][column] = m[row][column] + value


def _side_by_side(left: Entries, right: Entries) -> list[list[Real]]:
    return [a + b for a, b in zip(left, right)]


def emit_inverse_dynamics_gradient(k: KernelBuilder) -> None:
    q, qd, qdd, gravity = (k.input(name) for name in ("q", "qd", "qdd", "gravity"))
    wrenches = k.input("f_ext") if k.has("f_ext") else None
    k.output("gradient", _side_by_side(*inverse_dynamics_derivatives(k, q, qd, qdd, gravity, wrenches)))


def emit_forward_dynamics_gradient(k: KernelBuilder) -> None:
    q, qd = k.input("q"), k.input("qd")
    shared = {"q": q, "qd": qd, "gravity": k.input("gravity")} | ({"f_ext": k.input("f_ext")} if k.has("f_ext") else {})
    mass = mass_factor(k, q)
    qdd = mass.solve(minus(tuple(k.input("u")), tuple(k.call("inverse_dynamics", **shared))))
    gradient = k.call("inverse_dynamics_gradient", qdd=qdd, **shared)
    known = unfelt_columns(k, q, qd, k.input("gravity"))
    with k.section("solve with the mass matrix"):
        columns = [
            known[j] if j in known else mass.solve([-x for x in column])
            for j, column in enumerate(zip(*gradient, strict=True))
        ]
    k.output("gradient", list(zip(*columns, strict=True)))


def emit_coriolis_matrix(k: KernelBuilder) -> None:
    still = [0.0] * k.model.nv
    ground = ground_motion(k, k.input("q"), k.input("qd"), still, [0.0] * 3, None)
    c = _square(k)
    with k.section("columns"):
        for i in reversed(range(k.model.nb)):
            with k.section(k.model.joints[i].name):
                for column in ground.columns[i]:
                    _fill_coriolis(ground, i, column, c)
    k.output("c", c)


def _fill_coriolis(ground: Ground, i: int, column: Column, c: Entries) -> None:
    """As the velocity half of :func:`_fill`, with ``B / 2`` and ``s_dot`` (Echeandia and Wensing 2021)."""
    subtree, slot = ground.composites[i], column.slot
    along = subtree.inertia * column.s
    drag = scale(subtree.coriolis.transposed(column.s), 0.5)
    rate = ground.velocities[i].cross_motion(column.s)
    force = subtree.coriolis * column.s * 0.5 + subtree.inertia * rate
    for j in (i, *ground.ancestors(i)):
        for other in ground.columns[j]:
            other_rate = ground.velocities[j].cross_motion(other.s)
            _add(c, slot, other.slot, dot(drag, other.s.angular) + other_rate.power(along))
            if j != i:
                _add(c, other.slot, slot, other.s.power(force))


ALGORITHMS = (
    Algorithm(
        name="inverse_dynamics_gradient",
        family="dynamics",
        summary="Derivatives of inverse dynamics: [d tau/dq | d tau/dqd], q along the tangent.",
        inputs=(Q, QD, QDD, GRAVITY, F_EXT_SHARED),
        outputs=(Output("gradient", GRADIENT, "[d tau/dq | d tau/dqd]"),),
        emit=emit_inverse_dynamics_gradient,
        profiles=("dynamics", "dynamics-gradients", "second-order", "integrators"),
        notes="f_ext is held constant in body axes. d tau/d qdd is the mass matrix, see crba.",
        source="Singh, Russell and Wensing, Efficient analytical derivatives of rigid-body dynamics, 2022",
    ),
    Algorithm(
        name="forward_dynamics_gradient",
        family="dynamics",
        summary="Derivatives of forward dynamics at fixed u: [d qdd/dq | d qdd/dqd], q along the tangent.",
        inputs=(Q, QD, U, GRAVITY, F_EXT_SHARED),
        outputs=(Output("gradient", GRADIENT, "[d qdd/dq | d qdd/dqd]"),),
        emit=emit_forward_dynamics_gradient,
        requires=("inverse_dynamics", "inverse_dynamics_gradient", "crba"),
        profiles=("dynamics", "dynamics-gradients", "second-order", "integrators"),
        notes="f_ext is held constant in body axes. d qdd/du is minv.",
        source="Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018",
    ),
    Algorithm(
        name="coriolis_matrix",
        family="dynamics",
        summary="Coriolis matrix C(q, qd): C qd + g is nonlinear_effects and dM/dt - 2 C is skew.",
        inputs=(Q, QD, UNUSED_GRAVITY),
        outputs=(Output("c", SQUARE, "Coriolis matrix"),),
        emit=emit_coriolis_matrix,
        source="Echeandia and Wensing, Numerical methods to compute the Coriolis matrix and Christoffel symbols, 2021",
    ),
)
