"""The mass matrix by composite rigid bodies, its inverse, and forward dynamics through its factorisation."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tree import TracedTree
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import Matrix, minus
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Transform
from grid_plugins.dynamics.articulated_body import articulated_body
from grid_plugins.dynamics.mass_factor import articulates, mass_factor
from grid_plugins.dynamics.signature import ACCELERATION, CORE, F_EXT, GRAVITY, QD, SQUARE, UNUSED_GRAVITY, Q, U


def composite_rigid_body(k: KernelBuilder, q: Sequence[Real]) -> Matrix:
    """Return the symmetric mass matrix, computed in body axes from the leaves to the root."""
    tree, nv = k.tree, k.model.nv
    transforms = [tree.transform(i, q) for i in range(k.model.nb)]
    composite = list(tree.lumped_inertias)
    m: list[list[Real]] = [[0.0] * nv for _ in range(nv)]
    for i in reversed(range(k.model.nb)):
        parent = tree.parents[i]
        with k.section(f"subtree of {k.model.joints[i].name}"):
            if parent >= 0:
                composite[parent] = composite[parent] + composite[i].to_parent(transforms[i])
            for slot, column in tree.columns[i]:
                _couple(tree, i, slot, composite[i] * column, transforms, m)
    for slot, rotor in enumerate(tree.armature):
        m[slot][slot] = m[slot][slot] + rotor
    return tuple(map(tuple, m))


def _couple(
    tree: TracedTree, i: int, slot: int, force: Force, transforms: Sequence[Transform], m: list[list[Real]]
) -> None:
    """Add what a column of body ``i``, moving its subtree by ``force``, shares with the columns towards the root."""
    for other, column in tree.columns[i]:
        m[other][slot] = m[other][slot] + column.power(force)
    while tree.parents[i] >= 0:
        force = transforms[i].force_to_parent(force)
        i = tree.parents[i]
        for other, column in tree.columns[i]:
            coupling = column.power(force)
            m[other][slot] = m[other][slot] + coupling
            m[slot][other] = m[slot][other] + coupling


def emit_crba(k: KernelBuilder) -> None:
    k.output("m", composite_rigid_body(k, k.input("q")))


def emit_minv(k: KernelBuilder) -> None:
    k.output("minv", mass_factor(k, k.input("q")).inverse())


def emit_forward_dynamics(k: KernelBuilder) -> None:
    q, qd = k.input("q"), k.input("qd")
    wrenches = {"f_ext": k.input("f_ext")} if k.has("f_ext") else {}
    if articulates(k):
        friction, _ = k.tree.joint_friction(qd)
        u = minus(k.input("u"), tuple(friction))
        k.output("qdd", articulated_body(k, q, qd, u, k.input("gravity"), wrenches.get("f_ext")))
        return
    bias = k.call("inverse_dynamics", q=q, qd=qd, gravity=k.input("gravity"), **wrenches)
    k.output("qdd", mass_factor(k, q).solve(minus(k.input("u"), bias)))


ALGORITHMS = (
    Algorithm(
        name="crba",
        family="dynamics",
        summary="Joint-space mass matrix M(q), dense and symmetric.",
        inputs=(Q, UNUSED_GRAVITY),
        outputs=(Output("m", SQUARE, "mass matrix (kg m^2, kg m, kg)"),),
        emit=emit_crba,
        profiles=("dynamics",),
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.2",
    ),
    Algorithm(
        name="minv",
        family="dynamics",
        summary="Inverse of the joint-space mass matrix, dense and symmetric.",
        inputs=(Q,),
        outputs=(Output("minv", SQUARE, "inverse mass matrix"),),
        emit=emit_minv,
        requires=("crba",),
        profiles=(*CORE, "f-ext-gradient"),
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.5",
    ),
    Algorithm(
        name="forward_dynamics",
        family="dynamics",
        summary="Acceleration under joint forces: qdd = M(q)^-1 (u - C(q, qd) qd - g(q) + sum J_i^T f_i).",
        inputs=(Q, QD, U, GRAVITY, F_EXT),
        outputs=(ACCELERATION,),
        emit=emit_forward_dynamics,
        requires=("inverse_dynamics", "crba"),
        aliases=("fd",),
        profiles=CORE,
        notes="With joint dynamics, damping and friction reduce u.",
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 6",
    ),
)
