"""Maps of the configuration space: integration, difference, its derivatives, and the motion of single joints."""

from __future__ import annotations

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.manifold import BlockDiagonal, difference, difference_jacobians, integrate
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_plugins.integrators.signature import Q

D = Input("d", ("nv",), "step along the tangent at q (rad, m)")
FROM = Input("q_from", ("nq",), "configuration at which the difference is a tangent", tangent="configuration")
TO = Input("q_to", ("nq",), "configuration that it leads to", tangent="configuration")
SQUARE = ("nv", "nv")


def emit_integrate(k: KernelBuilder) -> None:
    k.output("q_next", integrate(k.model, k.input("q"), k.input("d")))


def emit_difference(k: KernelBuilder) -> None:
    k.output("d", difference(k.model, k.input("q_from"), k.input("q_to")))


def emit_difference_jacobians(k: KernelBuilder) -> None:
    both = difference_jacobians(k.model, k.input("q_from"), k.input("q_to"))
    for name, blocks, outside in zip(("j_from", "j_to"), both, (-1.0, 1.0)):
        k.output(name, BlockDiagonal(k.model.nv, blocks, outside).dense())


ALGORITHMS = (
    Algorithm(
        name="configuration_integrate",
        family="integrators",
        summary="Retraction q (+) d: where a configuration gets by moving along a tangent for unit time.",
        inputs=(Q, D),
        outputs=(Output("q_next", ("nq",), "configuration; quaternions have unit length"),),
        emit=emit_integrate,
        profiles=("integrators",),
        notes="A free base moves by the exponential of SE(3) in its own frame, a spherical joint by that of SO(3); "
        "other coordinates add. Quaternions of any length are accepted.",
        source="Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics, 2018",
    ),
    Algorithm(
        name="configuration_difference",
        family="integrators",
        summary="The tangent at one configuration that leads to another: q_from (+) d = q_to.",
        inputs=(FROM, TO),
        outputs=(Output("d", ("nv",), "tangent at q_from (rad, m)"),),
        emit=emit_difference,
        profiles=("integrators",),
        notes="Rotations take the short way, whatever the signs of the quaternions; half a turn is a jump. "
        "Coordinates that add are subtracted, angles are not wrapped.",
        source="Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics, 2018",
    ),
    Algorithm(
        name="configuration_difference_jacobians",
        family="integrators",
        summary="Derivatives of configuration_difference along both configurations, each along its own tangent.",
        inputs=(FROM, TO),
        outputs=(
            Output("j_from", SQUARE, "along q_from: -1 where coordinates add"),
            Output("j_to", SQUARE, "along q_to: 1 where coordinates add"),
        ),
        emit=emit_difference_jacobians,
        profiles=("integrators",),
        notes="Both are block diagonal, see coordinate_block. They are what a defect between a predicted and a chosen "
        "state is composed with; a change of sign will do only where rotations agree.",
        source="Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics, 2018",
    ),
)
