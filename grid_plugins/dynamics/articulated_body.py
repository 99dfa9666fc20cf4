"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1)."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tree import TracedTree
from grid_core.plugins.algorithm import Algorithm
from grid_core.trace.linalg import ZERO3, minus, negative, vector
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Motion, Transform
from grid_plugins.dynamics.articulated_inertia import ArticulatedInertia, Pivot
from grid_plugins.dynamics.signature import ACCELERATION, F_EXT, GRAVITY, QD, Q, U

Joint = tuple[tuple[Pivot, Real], ...]
"""What the outward pass needs of a joint: per column its pivot and ``u``, the force that is left to accelerate it."""


def emit_aba(k: KernelBuilder) -> None:
    arguments = {name: k.input(name) for name in ("q", "qd", "u", "gravity", "f_ext") if k.has(name)}
    if not independent_joints(k):
        k.output("qdd", k.call("forward_dynamics", **arguments))
        return
    friction, _ = k.tree.joint_friction(arguments["qd"])
    u = minus(arguments["u"], tuple(friction))
    wrenches = arguments.get("f_ext")
    k.output("qdd", articulated_body(k, arguments["q"], arguments["qd"], u, arguments["gravity"], wrenches))


def independent_joints(k: KernelBuilder) -> bool:
    """Return whether no joint follows another, as the recursion assumes."""
    return not any(joint.mimic for joint in k.model.joints)


def articulated_body(
    k: KernelBuilder,
    q: Sequence[Real],
    qd: Sequence[Real],
    u: Sequence[Real],
    gravity: Sequence[Real],
    f_ext: Sequence[Real] | None,
) -> list[Real]:
    """Return the acceleration of a tree whose joints are independent of each other."""
    tree, nb = k.tree, k.model.nb
    transforms = [tree.transform(i, q) for i in range(nb)]
    with k.section("velocities"):
        drifts, bias = _drifts(tree, transforms, qd, f_ext)
    articulated = [ArticulatedInertia.of(body) for body in tree.lumped_inertias]
    joints: list[Joint] = [()] * nb
    for i in reversed(range(nb)):
        with k.section(f"articulated inertia of {k.model.joints[i].name}"):
            apparent, pivots = articulated[i].without(tree.columns[i], tree.armature)
            joints[i], force = _forces(pivots, bias[i], apparent * drifts[i], u)
            parent = tree.parents[i]
            if parent >= 0:
                articulated[parent] = articulated[parent] + apparent.to_parent(transforms[i])
                bias[parent] = bias[parent] + transforms[i].force_to_parent(force)
    with k.section("accelerations"):
        return _outward_accelerations(tree, transforms, drifts, joints, gravity)


def _drifts(
    tree: TracedTree, transforms: list[Transform], qd: Sequence[Real], f_ext: Sequence[Real] | None
) -> tuple[list[Motion], list[Force]]:
    """Return per body its velocity-product acceleration ``c`` and bias force ``p``."""
    velocities: list[Motion] = []
    drifts: list[Motion] = []
    bias: list[Force] = []
    for i, parent in enumerate(tree.parents):
        rate = tree.joint_motion(i, qd)
        v = transforms[i].motion_to_child(velocities[parent]) + rate if parent >= 0 else rate
        force = v.cross_force(tree.lumped_inertias[i] * v)
        velocities.append(v)
        drifts.append(v.cross_motion(rate) if parent >= 0 else Motion.zero())
        bias.append(force - Force.of(f_ext[6 * i : 6 * i + 6]) if f_ext is not None else force)
    return drifts, bias


def _forces(pivots: Sequence[Pivot], bias: Force, drag: Force, u: Sequence[Real]) -> tuple[Joint, Force]:
    """Return what accelerates each column of a joint, and the bias force that is felt through all of them.

    ``drag = I^a c`` is the force of the drift on what is felt. It is known early: added last it costs 5 % of the time.
    """
    joint, felt = [], bias + drag
    for pivot in reversed(pivots):
        left = u[pivot.slot] - pivot.column.power(bias)
        joint.append((pivot, left))
        push = pivot.share * left
        bias, felt = bias + push, felt + push
    return tuple(reversed(joint)), felt


def _outward_accelerations(
    tree: TracedTree, transforms: list[Transform], drifts: list[Motion], joints: list[Joint], gravity: Sequence[Real]
) -> list[Real]:
    qdd: list[Real] = [0.0] * tree.model.nv
    world = Motion(ZERO3, negative(vector(gravity)))
    accelerations: list[Motion] = []
    for i, parent in enumerate(tree.parents):
        a = transforms[i].motion_to_child(accelerations[parent] if parent >= 0 else world) + drifts[i]
        for pivot, u in joints[i]:
            qdd[pivot.slot] = rate = (u - a.power(pivot.force)) * pivot.inverse_d
            a = a + pivot.column * rate
        accelerations.append(a)
    return qdd


ALGORITHMS = (
    Algorithm(
        name="aba",
        family="dynamics",
        summary="Forward dynamics by articulated-body inertias; the same result as forward_dynamics, another way.",
        inputs=(Q, QD, U, GRAVITY, F_EXT),
        outputs=(ACCELERATION,),
        emit=emit_aba,
        requires=("forward_dynamics",),
        profiles=("dynamics",),
        notes="The joints of a robot with mimic joints are not independent, so that the recursion does not apply: the "
        "mass matrix is factorised there instead.",
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, table 7.1",
    ),
)
