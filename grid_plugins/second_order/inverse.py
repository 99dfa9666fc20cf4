"""Second derivatives of inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.ground import ground_motion
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.autodiff import jvp
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.second_order.branches import Branches
from grid_plugins.second_order.looped import Looped, Outputs, many_triples
from grid_plugins.second_order.signature import CUBE, F_EXT, GRAVITY, QD, QDD, Q
from grid_plugins.second_order.unrolled import unrolled


def friction_curvature(k: KernelBuilder, qd: Sequence[Real]) -> list[Real]:
    """Return the second derivative of the torque that joint friction takes, along each rate."""
    _, slopes = k.tree.joint_friction(qd)
    return [jvp([slope], {v: 1.0})[0] if isinstance(v, Scalar) else 0.0 for slope, v in zip(slopes, qd)]


def emit_idsva_so(k: KernelBuilder) -> None:
    q, qd, qdd, gravity = (k.input(name) for name in ("q", "qd", "qdd", "gravity"))
    branches = Branches(ground_motion(k, q, qd, qdd, gravity, k.input("f_ext") if k.has("f_ext") else None))
    curvature = friction_curvature(k, qd)
    if many_triples(branches):
        Looped(k, branches, Outputs(k)).fill(curvature)
        return
    for tensor, cube in unrolled(k, branches, curvature).items():
        k.output(tensor.value, cube)


ALGORITHMS = (
    Algorithm(
        name="idsva_so",
        family="second_order",
        summary="Second derivatives of inverse dynamics, and the derivative of the mass matrix.",
        inputs=(Q, QD, QDD, GRAVITY, F_EXT),
        outputs=(
            Output("d2tau_dq", CUBE, "[i, j, k]: derivative along direction k of d tau_i / d q_j"),
            Output("d2tau_dqd", CUBE, "[i, j, k]: d2 tau_i / d qd_j d qd_k"),
            Output("d2tau_cross", CUBE, "[i, j, k]: d2 tau_i / d qd_j d q_k"),
            Output("dM_dq", CUBE, "[i, j, k]: d M_ij / d q_k"),
        ),
        emit=emit_idsva_so,
        profiles=("dynamics", "second-order"),
        result="SecondOrderID",
        notes="Directions of a floating base or a spherical joint do not commute: d2tau_dq is symmetric in j and k "
        "only where they belong to different joints. f_ext is held constant in body axes. With joint dynamics, the "
        "curvature of tanh friction is on the diagonal of d2tau_dqd.",
        source="Singh, Russell and Wensing, On second-order derivatives of rigid-body dynamics, 2023",
    ),
)
