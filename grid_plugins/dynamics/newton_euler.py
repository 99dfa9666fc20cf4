"""Inverse dynamics by the recursive Newton-Euler algorithm, and the bias forces that are special cases of it.

Written with the classical accelerations of :mod:`grid_core.kernel.acceleration`.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.acceleration import Acceleration, accelerate, at_rest
from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm
from grid_core.trace.linalg import Matrix, Vector, cross, matvec, plus, scale
from grid_core.trace.scalar import Real, Scalar
from grid_core.trace.spatial import Force, Inertia, Symmetric
from grid_plugins.dynamics.signature import CORE, F_EXT, GRAVITY, QD, QDD, TAU, Q


def emit_inverse_dynamics(k: KernelBuilder) -> None:
    wrenches = k.input("f_ext") if k.has("f_ext") else None
    tau = newton_euler(k, k.input("q"), k.input("qd"), k.input("qdd"), k.input("gravity"), wrenches)
    friction, _ = k.tree.joint_friction(k.input("qd"))
    rotors = tuple(rotor * rate for rotor, rate in zip(k.tree.armature, k.input("qdd")))
    k.output("tau", plus(plus(tau, rotors), tuple(friction)))


def emit_nonlinear_effects(k: KernelBuilder) -> None:
    zero = [0.0] * k.model.nv
    k.output("tau", newton_euler(k, k.input("q"), k.input("qd"), zero, k.input("gravity")))


def emit_generalized_gravity(k: KernelBuilder) -> None:
    zero = [0.0] * k.model.nv
    k.output("tau", newton_euler(k, k.input("q"), zero, zero, k.input("gravity")))


def newton_euler(
    k: KernelBuilder,
    q: Sequence[Real],
    qd: Sequence[Real],
    qdd: Sequence[Real],
    gravity: Sequence[Real],
    f_ext: Sequence[Real] | None = None,
) -> Vector:
    """Return the generalised force of a motion, without joint friction."""
    tree = k.tree
    transforms = [tree.transform(i, q) for i in range(k.model.nb)]
    world = at_rest(gravity)
    moved: list[Acceleration] = []
    forces: list[Force] = []
    for i, parent in enumerate(tree.parents):
        with k.section(f"motion and force of {k.model.joints[i].name}"):
            moved.append(accelerate(tree, i, transforms[i], moved[parent] if parent >= 0 else world, qd, qdd))
            force = _newton_euler_force(tree.lumped_inertias[i], moved[i])
            forces.append(force - Force.of(f_ext[6 * i : 6 * i + 6]) if f_ext is not None else force)
    tau: list[Real] = [0.0] * k.model.nv
    for i in reversed(range(k.model.nb)):
        with k.section(f"force through {k.model.joints[i].name}"):
            for slot, column in tree.columns[i]:
                tau[slot] = tau[slot] + column.power(forces[i])
            parent = tree.parents[i]
            if parent >= 0:
                forces[parent] = forces[parent] + transforms[i].force_to_parent(forces[i])
    return tuple(tau)


def _newton_euler_force(inertia: Inertia, a: Acceleration) -> Force:
    """Return the force that gives a body its acceleration, about its origin."""
    linear = plus(scale(a.linear, inertia.mass), matvec(a.field, inertia.moment))
    return Force(plus(_moment(a.field, inertia.rotational), cross(inertia.moment, a.linear)), linear)


def _moment(u: Matrix, inertia: Symmetric) -> Vector:
    """Return ``I alpha + w x I w`` as the skew part of ``U E``, with ``E`` the second moments of mass."""
    xx, xy, xz, yy, yz, zz = second_moments(inertia)
    return (
        u[2][0] * xy - u[1][0] * xz + u[2][1] * yy - u[1][2] * zz + (u[2][2] - u[1][1]) * yz,
        u[0][1] * yz - u[2][1] * xy + u[0][2] * zz - u[2][0] * xx + (u[0][0] - u[2][2]) * xz,
        u[1][2] * xz - u[0][2] * yz + u[1][0] * xx - u[0][1] * yy + (u[1][1] - u[0][0]) * xy,
    )


def second_moments(inertia: Symmetric) -> Symmetric:
    """Return ``E = tr(I)/2 1 - I``, the integrals of ``x x^T`` over the mass, ordered ``xx xy xz yy yz zz``."""
    half = 0.5 * (inertia[0] + inertia[3] + inertia[5])
    moments = (half - inertia[0], -inertia[1], -inertia[2], half - inertia[3], -inertia[4], half - inertia[5])
    numbers = [x for x in inertia if not isinstance(x, Scalar)]
    if len(numbers) < 6:
        return moments
    noise = 1e-15 * max(abs(x) for x in numbers)  # rounding of the half trace, far below the data's own digits
    return tuple(0.0 if abs(x) <= noise else x for x in moments)  # type: ignore[return-value,arg-type]


ALGORITHMS = (
    Algorithm(
        name="inverse_dynamics",
        family="dynamics",
        summary="Joint forces that produce an acceleration: tau = M(q) qdd + C(q, qd) qd + g(q) - sum J_i^T f_i.",
        inputs=(Q, QD, QDD, GRAVITY, F_EXT),
        outputs=(TAU,),
        emit=emit_inverse_dynamics,
        aliases=("rnea",),
        profiles=(*CORE, "regressor", "energy-regressor", "f-ext-gradient"),
        notes="With joint dynamics, damping and friction are added.",
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 5; Luh, Walker and Paul, 1980",
    ),
    Algorithm(
        name="nonlinear_effects",
        family="dynamics",
        summary="Bias force C(q, qd) qd + g(q): inverse dynamics at zero acceleration, without joint friction.",
        inputs=(Q, QD, GRAVITY),
        outputs=(TAU,),
        emit=emit_nonlinear_effects,
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 5",
    ),
    Algorithm(
        name="generalized_gravity",
        family="dynamics",
        summary="Joint forces that hold the robot up: inverse dynamics at rest.",
        inputs=(Q, GRAVITY),
        outputs=(TAU,),
        emit=emit_generalized_gravity,
        aliases=("gravity_torque",),
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 5",
    ),
)
