"""First derivatives of inverse and forward dynamics along the tangent, and the Coriolis matrix.

The recursion of Singh, Russo and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector
algebra" (2022). All quantities are expressed in one ground frame: the world for a fixed base, the base body itself
for a floating one, so that results do not degrade far from the world's origin.

The factor ``B`` of a body (with ``B s`` its velocity-dependent force per unit of motion) has structure: with rotational
inertia ``I``, linear momentum ``p`` and angular momentum ``l`` in the ground frame

    B [w; v] = [ dI/dt w - l x w ; -2 p x w ]

so that twelve numbers per body are accumulated instead of eighteen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tree import TracedTree
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import (
    ZERO3,
    Vector,
    cross,
    dot,
    matmul,
    matvec,
    minus,
    negative,
    plus,
    scale,
    skew,
    transpose,
    vector,
)
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Inertia, Motion, Symmetric, Transform, dense, symmetric
from grid_plugins.dynamics.mass_factor import mass_factor
from grid_plugins.dynamics.signature import F_EXT_SHARED, GRADIENT, GRAVITY, QD, QDD, SQUARE, Q, U

T = TypeVar("T")


@dataclass(frozen=True)
class Column:
    """A column ``s`` of a joint's motion subspace in the ground frame with the rates that the recursion needs."""

    slot: int
    s: Motion
    turned: Motion
    """``psi_dot = v_parent x s``"""
    accelerated: Motion
    """``psi_ddot = a_parent x s + v_parent x psi_dot``"""
    moving: Motion
    """``psi_dot + s_dot`` with ``s_dot = v x s``"""


@dataclass(frozen=True)
class Composite:
    """A subtree in the ground frame: inertia, the two parts of ``B`` and the total force."""

    inertia: Inertia
    inertia_rate: Symmetric
    momentum: Force
    force: Force

    def __add__(self, other: Composite) -> Composite:
        return Composite(
            self.inertia + other.inertia,
            tuple(plus(self.inertia_rate, other.inertia_rate)),  # type: ignore[arg-type]
            self.momentum + other.momentum,
            self.force + other.force,
        )

    def b(self, m: Motion) -> Force:
        """Return ``B m``."""
        angular = minus(matvec(dense(self.inertia_rate), m.angular), cross(self.momentum.angular, m.angular))
        return Force(angular, scale(cross(self.momentum.linear, m.angular), -2.0))

    def b_transposed(self, m: Motion) -> Vector:
        """Return the angular part of ``B^T m``; its linear part is zero."""
        angular = plus(matvec(dense(self.inertia_rate), m.angular), cross(self.momentum.angular, m.angular))
        return plus(angular, scale(cross(self.momentum.linear, m.linear), 2.0))


@dataclass
class Ground:
    """A robot in motion, everything expressed in the ground frame."""

    tree: TracedTree
    columns: list[tuple[Column, ...]]
    velocities: list[Motion]
    composites: list[Composite]

    def ancestors(self, i: int) -> Iterator[int]:
        """Yield the strict ancestors of body ``i``."""
        while (i := self.tree.parents[i]) >= 0:
            yield i


def ground_motion(
    k: KernelBuilder,
    q: Sequence[Real],
    qd: Sequence[Real],
    qdd: Sequence[Real],
    gravity: Sequence[Real],
    f_ext: Sequence[Real] | None,
) -> Ground:
    """Run the outward pass and accumulate subtrees."""
    tree = k.tree
    with k.section("joint transforms"):
        local = _each_body(k, lambda i: tree.transform(i, q))
    poses, columns, velocities, accelerations = _outward(k, local, qd, qdd, gravity)
    with k.section("bodies in the ground frame"):
        composites = _each_body(k, lambda i: _body(tree, i, poses[i], velocities[i], accelerations[i], f_ext))
    with k.section("subtrees"):
        for i in reversed(range(k.model.nb)):
            if tree.parents[i] >= 0:
                composites[tree.parents[i]] = composites[tree.parents[i]] + composites[i]
    return Ground(tree, columns, velocities, composites)


def _each_body(k: KernelBuilder, make: Callable[[int], T]) -> list[T]:
    """Make something of every body, labelled with its joint."""
    made = []
    for i, joint in enumerate(k.model.joints):
        with k.section(joint.name):
            made.append(make(i))
    return made


def _outward(
    k: KernelBuilder, local: list[Transform], qd: Sequence[Real], qdd: Sequence[Real], gravity: Sequence[Real]
) -> tuple[list[Transform], list[tuple[Column, ...]], list[Motion], list[Motion]]:
    """Return per body its pose, joint columns, velocity and acceleration (gravity included) in the ground frame."""
    tree = k.tree
    base_is_ground = tree.parents.count(-1) == 1 and k.model.joints[0].kind == "floating"
    lift = negative(vector(gravity))
    if base_is_ground:
        lift = matvec(transpose(local[0].rotation), lift)
        local = [Transform(), *local[1:]]
    poses: list[Transform] = []
    columns: list[tuple[Column, ...]] = []
    velocities: list[Motion] = []
    accelerations: list[Motion] = []
    with k.section("motion from the root outwards"):
        for i, parent in enumerate(tree.parents):
            v, a = (velocities[parent], accelerations[parent]) if parent >= 0 else (Motion.zero(), Motion(ZERO3, lift))
            poses.append(poses[parent] @ local[i] if parent >= 0 else local[i])
            own = [(slot, poses[i].motion_to_parent(column)) for slot, column in tree.columns[i]]
            rate = sum((s * qd[slot] for slot, s in own), Motion.zero())
            change = sum((s * qdd[slot] for slot, s in own), Motion.zero())
            columns.append(tuple(_column(slot, s, v, a, v + rate, len(own)) for slot, s in own))
            velocities.append(v + rate)
            accelerations.append(a + v.cross_motion(rate) + change)
    return poses, columns, velocities, accelerations


def _column(slot: int, s: Motion, v_parent: Motion, a_parent: Motion, v: Motion, width: int) -> Column:
    turned = v_parent.cross_motion(s)
    accelerated = a_parent.cross_motion(s) + v_parent.cross_motion(turned)
    moving = turned * 2.0 if width == 1 else turned + v.cross_motion(s)
    return Column(slot, s, turned, accelerated, moving)


def _body(tree: TracedTree, i: int, pose: Transform, v: Motion, a: Motion, f_ext: Sequence[Real] | None) -> Composite:
    inertia = tree.lumped_inertias[i].to_parent(pose)
    momentum = inertia * v
    force = inertia * a + v.cross_force(momentum)
    if f_ext is not None:
        force = force - pose.force_to_parent(Force.of(f_ext[6 * i : 6 * i + 6]))
    return Composite(inertia, _rate(inertia, v), momentum, force)


def _rate(inertia: Inertia, v: Motion) -> Symmetric:
    """Return the rate of change of the rotational inertia about the fixed origin of the ground."""
    turning = matmul(skew(v.angular), dense(inertia.rotational))
    h, trace = inertia.moment, 2.0 * dot(v.linear, inertia.moment)
    rate = [
        [
            turning[r][c] + turning[c][r] - (h[r] * v.linear[c] + h[c] * v.linear[r]) + (trace if r == c else 0.0)
            for c in range(3)
        ]
        for r in range(3)
    ]
    return symmetric(tuple(map(tuple, rate)))


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
    drag = subtree.b_transposed(column.s)
    for other in ground.columns[i]:
        _add(dq, slot, other.slot, dot(drag, other.turned.angular) + other.accelerated.power(along))
        _add(dv, slot, other.slot, dot(drag, other.s.angular) + other.moving.power(along))
    by_position = subtree.inertia * column.accelerated + subtree.b(column.turned) + column.s.cross_force(subtree.force)
    by_velocity = subtree.b(column.s) + subtree.inertia * column.moving
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
    with k.section("solve with the mass matrix"):
        columns = [mass.solve([-x for x in column]) for column in zip(*gradient, strict=True)]
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
    drag = scale(subtree.b_transposed(column.s), 0.5)
    rate = ground.velocities[i].cross_motion(column.s)
    force = subtree.b(column.s) * 0.5 + subtree.inertia * rate
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
        source="Singh, Russo and Wensing, Efficient analytical derivatives of rigid-body dynamics, 2022",
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
        inputs=(Q, QD),
        outputs=(Output("c", SQUARE, "Coriolis matrix"),),
        emit=emit_coriolis_matrix,
        source="Echeandia and Wensing, Numerical methods to compute the Coriolis matrix and Christoffel symbols, 2021",
    ),
)
