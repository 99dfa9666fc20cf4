"""Derivatives of inverse and forward dynamics by the external wrenches, and how they change with the configuration.

Both are linear in the wrenches: ``tau = ID - sum J_i^T f_i``. With wrenches in body axes, a row of ``J_i^T`` is the
virtual motion of one coordinate seen from body ``i``.
"""

from __future__ import annotations

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion
from grid_plugins.centroidal.signature import Q
from grid_plugins.centroidal.virtual import unit_rates, virtual_motions

WRENCHES = "6*nb"


def emit_f_ext_gradient(k: KernelBuilder) -> None:
    q, tree, nv = k.input("q"), k.tree, k.model.nv
    transforms = [tree.transform(i, q) for i in range(k.model.nb)]
    minv = k.call("minv", q=q)
    dtau: list[list[Real]] = [[] for _ in range(nv)]
    dqdd: list[list[Real]] = [[] for _ in range(nv)]
    motions = zip(virtual_motions(tree, transforms, unit_rates(nv)), virtual_motions(tree, transforms, minv))
    for joint in k.model.joints:
        with k.section(f"motions of {joint.name} by unit rates and unit forces"):
            by_rates, by_forces = next(motions)
        for i in range(nv):
            dtau[i] += [-x for x in by_rates[i].flat()]
            dqdd[i] += by_forces[i].flat()
    k.output("dtau", dtau)
    k.output("dqdd", dqdd)


def emit_f_ext_gradient_dq(k: KernelBuilder) -> None:
    """Trace it: when a joint ``k`` between ``i`` and a body moves, the body's axes turn, ``d(-s_i) = s_k x s_i``."""
    q, tree, nv = k.input("q"), k.tree, k.model.nv
    transforms = [tree.transform(i, q) for i in range(k.model.nb)]
    gradient: list[list[list[Real]]] = [[[0.0] * nv for _ in range(6 * k.model.nb)] for _ in range(nv)]
    motions: list[list[tuple[int, Motion]]] = []
    turned: list[list[tuple[int, int, Motion]]] = []
    for b, parent in enumerate(tree.parents):
        with k.section(f"motions seen from {k.model.joints[b].name}"):
            carry = transforms[b].motion_to_child
            above = [(slot, carry(s)) for slot, s in motions[parent]] if parent >= 0 else []
            moved = [(i, along, carry(s)) for i, along, s in turned[parent]] if parent >= 0 else []
            own = tree.columns[b]
            moved += [(i, along, column.cross_motion(s)) for along, column in own for i, s in above]
            motions.append([*above, *own])
            turned.append(moved)
        for i, along, s in moved:
            for r, x in enumerate(s.flat()):
                entry = gradient[i][6 * b + r]
                entry[along] = entry[along] + x
    k.output("gradient", gradient)


ALGORITHMS = (
    Algorithm(
        name="f_ext_gradient",
        family="centroidal",
        summary="Derivatives of inverse and forward dynamics by the external wrenches: -J^T and M^-1 J^T.",
        inputs=(Q,),
        outputs=(
            Output("dtau", ("nv", WRENCHES), "d tau/d f_ext = -J^T, columns as in f_ext"),
            Output("dqdd", ("nv", WRENCHES), "d qdd/d f_ext = M^-1 J^T"),
        ),
        emit=emit_f_ext_gradient,
        requires=("minv",),
        profiles=("dynamics-gradients", "f-ext-gradient"),
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 5",
    ),
    Algorithm(
        name="f_ext_gradient_dq",
        family="centroidal",
        summary="Derivative of d tau/d f_ext along the tangent.",
        inputs=(Q,),
        outputs=(Output("gradient", ("nv", WRENCHES, "nv"), "[i, 6 b + r, k] = d (d tau_i/d f_ext)/d q_k"),),
        emit=emit_f_ext_gradient_dq,
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, section 2.5",
    ),
)
