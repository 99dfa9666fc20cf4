"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tree import TracedTree
from grid_core.plugins.algorithm import Algorithm
from grid_core.trace.linalg import (
    ZERO3,
    Matrix,
    Vector,
    madd,
    matmul,
    matvec,
    minus,
    negative,
    plus,
    skew,
    transpose,
    vector,
)
from grid_core.trace.scalar import Real, Scalar
from grid_core.trace.spatial import Force, Inertia, Motion, Transform, dense
from grid_plugins.dynamics.factor import Factor, factor
from grid_plugins.dynamics.signature import ACCELERATION, F_EXT, GRAVITY, QD, Q, U


@dataclass(frozen=True)
class ArticulatedInertia:
    """The 6x6 matrix ``[[rotational, coupling], [coupling^T, linear]]`` from accelerations to forces."""

    rotational: Matrix
    coupling: Matrix
    linear: Matrix

    @classmethod
    def of(cls, body: Inertia) -> ArticulatedInertia:
        mass = tuple(tuple(body.mass if i == j else 0.0 for j in range(3)) for i in range(3))
        return cls(dense(body.rotational), skew(body.moment), mass)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            madd(self.rotational, other.rotational),
            madd(self.coupling, other.coupling),
            madd(self.linear, other.linear),
        )

    def __mul__(self, a: Motion) -> Force:
        return Force(
            plus(matvec(self.rotational, a.angular), matvec(self.coupling, a.linear)),
            plus(matvec(transpose(self.coupling), a.angular), matvec(self.linear, a.linear)),
        )

    def rows(self) -> list[list[Real]]:
        top = [list(r) + list(c) for r, c in zip(self.rotational, self.coupling)]
        bottom = [list(c) + list(m) for c, m in zip(transpose(self.coupling), self.linear)]
        return top + bottom

    @classmethod
    def of_rows(cls, m: Sequence[Sequence[Real]]) -> ArticulatedInertia:
        block = [tuple(tuple(row[j : j + 3]) for row in m[i : i + 3]) for i, j in ((0, 0), (0, 3), (3, 3))]
        return cls(*block)

    def to_parent(self, x: Transform) -> ArticulatedInertia:
        turn = x.rotation
        rotational, coupling, linear = (
            matmul(matmul(turn, block), transpose(turn)) for block in (self.rotational, self.coupling, self.linear)
        )
        p = skew(x.translation)
        moved = madd(coupling, matmul(p, linear))
        shift = madd(matmul(p, transpose(moved)), transpose(matmul(p, transpose(coupling))))
        return ArticulatedInertia(_mirror(madd(rotational, shift)), moved, _mirror(linear))


def _mirror(m: Matrix) -> Matrix:
    """Take the lower triangle from the upper one, so that equal entries are one scalar."""
    return tuple(tuple(m[min(i, j)][max(i, j)] for j in range(3)) for i in range(3))


@dataclass(frozen=True)
class Joint:
    """What the outward pass needs of a joint: ``U = I^A S`` per column, the factor of ``D = S^T U`` and ``u``."""

    forces: tuple[Force, ...]
    d: Factor
    u: tuple[Real, ...]


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
    joints: list[Joint] = [None] * nb  # type: ignore[list-item]
    for i in reversed(range(nb)):
        with k.section(f"articulated inertia of {k.model.joints[i].name}"):
            joints[i] = _joint(tree, i, articulated[i], bias[i], u)
            parent = tree.parents[i]
            if parent >= 0:
                inertia, force = _handed_to_parent(tree, i, articulated[i], bias[i], drifts[i], joints[i])
                articulated[parent] = articulated[parent] + inertia.to_parent(transforms[i])
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


def _joint(tree: TracedTree, i: int, inertia: ArticulatedInertia, bias: Force, u: Sequence[Real]) -> Joint:
    columns = tree.columns[i]
    forces = tuple(inertia * column for _, column in columns)
    d = factor([[column.power(force) for force in forces] for _, column in columns])
    return Joint(forces, d, tuple(u[slot] - column.power(bias) for slot, column in columns))


def _handed_to_parent(
    tree: TracedTree, i: int, inertia: ArticulatedInertia, bias: Force, drift: Motion, joint: Joint
) -> tuple[ArticulatedInertia, Force]:
    """Return the inertia and bias force that a body shows its parent through the joint, in body axes."""
    solved = [joint.d.solve([force.flat()[r] for force in joint.forces]) for r in range(6)]
    rows = inertia.rows()
    for r in range(6):
        for c in range(r, 6):
            for force, share in zip(joint.forces, solved[r]):
                rows[r][c] = rows[r][c] - share * force.flat()[c]
            rows[c][r] = rows[r][c]
    _clear_free_directions(rows, [column.flat() for _, column in tree.columns[i]])
    apparent = ArticulatedInertia.of_rows(rows)
    force = bias + apparent * drift
    for column_force, share in zip(joint.forces, joint.d.solve(joint.u)):
        force = force + column_force * share
    return apparent, force


def _clear_free_directions(rows: list[list[Real]], columns: Sequence[Vector]) -> None:
    """Set to exact zero what is zero by construction: a joint transmits no inertia along its own unit directions."""
    for column in columns:
        axes = [r for r, x in enumerate(column) if isinstance(x, Scalar) or x != 0.0]
        if len(axes) == 1:
            for other in range(6):
                rows[axes[0]][other] = rows[other][axes[0]] = 0.0


def _outward_accelerations(
    tree: TracedTree, transforms: list[Transform], drifts: list[Motion], joints: list[Joint], gravity: Sequence[Real]
) -> list[Real]:
    qdd: list[Real] = [0.0] * tree.model.nv
    world = Motion(ZERO3, negative(vector(gravity)))
    accelerations: list[Motion] = []
    for i, parent in enumerate(tree.parents):
        a = transforms[i].motion_to_child(accelerations[parent] if parent >= 0 else world) + drifts[i]
        free = joints[i].d.solve([u - a.power(force) for u, force in zip(joints[i].u, joints[i].forces)])
        for (slot, column), rate in zip(tree.columns[i], free):
            qdd[slot] = rate
            a = a + column * rate
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
        jacobian={"q": ("forward_dynamics_gradient", 0), "qd": ("forward_dynamics_gradient", 1), "u": ("minv", 0)},
        notes="The joints of a robot with mimic joints are not independent, so that the recursion does not apply: the "
        "mass matrix is factorised there instead.",
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, table 7.1",
    ),
)
