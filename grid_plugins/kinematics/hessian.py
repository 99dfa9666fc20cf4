"""Second derivatives of end-effector poses along the tangent.

A coordinate of a joint further from the root turns with every joint before it, but not the other way round. With the
motion ``(w_j, v_j)`` that coordinate ``j`` gives to the end effector and ``k`` on the same joint or further out, the
position therefore has the second derivative ``w_j x v_k``, and the angles have the derivative of their rate under
``w_j`` along ``k``. Coordinates of one joint do not commute; the Hessian is the symmetric part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import Vector, cross, minus, plus, scale
from grid_core.trace.scalar import Real
from grid_plugins.kinematics.pose import SINGULAR
from grid_plugins.kinematics.rotations import RpyRates
from grid_plugins.kinematics.signature import Q
from grid_plugins.kinematics.targets import FixedTarget, at_point, end_effectors

Tensor = list[list[list[Real]]]
"""Entries by row of the pose and two velocity slots."""


@dataclass(frozen=True)
class Direction:
    """What one coordinate of a joint does to the end effector: its motion and the rates of its angles."""

    body: int
    slot: int
    angular: Vector
    linear: Vector
    angles: Vector


def directions(target: FixedTarget, rates: RpyRates) -> Iterator[Direction]:
    """Yield the coordinates that move a target, from the root outwards; those of mimic joints one by one."""
    for i in target.movers:
        arm = minus(target.pose.translation, target.skeleton.poses[i].translation)
        for slot, own in target.skeleton.columns[i]:
            motion = at_point(own, arm)
            yield Direction(i, slot, motion.angular, motion.linear, rates.of(motion.angular))


def second(rates: RpyRates, inner: Direction, outer: Direction) -> Vector:
    """Return the derivative of the pose's rate along ``inner`` when the target moves along ``outer``."""
    return cross(inner.angular, outer.linear) + rates.change(inner.angles, outer.angles)


def pose_hessian(k: KernelBuilder, target: FixedTarget) -> Tensor:
    nv = k.model.nv
    hessian: Tensor = [[[0.0] * nv for _ in range(nv)] for _ in range(6)]
    rates = RpyRates.at(target.pose.rotation)
    found = list(directions(target, rates))
    for n, outer in enumerate(found):
        with k.section(k.model.joints[outer.body].name):
            for inner in found[: n + 1]:
                value = second(rates, inner, outer)
                if inner.body == outer.body and inner is not outer:
                    value = scale(plus(value, second(rates, outer, inner)), 0.5)
                _add(hessian, inner.slot, outer.slot, value)
                if inner is not outer:
                    _add(hessian, outer.slot, inner.slot, value)
    return hessian


def _add(hessian: Tensor, row: int, column: int, value: Vector) -> None:
    for matrix, x in zip(hessian, value):
        matrix[row][column] = matrix[row][column] + x


def emit_end_effector_pose_hessian(k: KernelBuilder) -> None:
    hessian: Tensor = []
    for target in end_effectors(k):
        with k.section(target.name):
            hessian += pose_hessian(k, target)
    k.output("hessian", hessian)


ALGORITHMS = (
    Algorithm(
        name="end_effector_pose_hessian",
        family="kinematics",
        summary="Second derivative of end_effector_pose along the tangent: of v -> pose(q (+) v) at v = 0, symmetric.",
        inputs=(Q,),
        outputs=(Output("hessian", ("6*nee", "nv", "nv"), "d2 pose / d v_j d v_k"),),
        emit=emit_end_effector_pose_hessian,
        profiles=("kinematics-derivatives",),
        notes=SINGULAR,
        source="Bruyninckx and De Schutter, Symbolic differentiation of the velocity mapping for a serial kinematic "
        "chain, 1996",
    ),
)
