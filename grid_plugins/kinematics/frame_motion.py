"""Where a frame is, how it moves, and how that changes with configuration and velocity."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import cross, minus, plus
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion
from grid_plugins.kinematics.frame_jacobian import TARGET, target_of
from grid_plugins.kinematics.placement import homogeneous
from grid_plugins.kinematics.pose import rows
from grid_plugins.kinematics.signature import JACOBIAN, QD, Q
from grid_plugins.kinematics.skeleton import WORLD, Skeleton
from grid_plugins.kinematics.targets import Target, at_point


def emit_frame_motion(k: KernelBuilder) -> None:
    skeleton, qd = Skeleton(k, k.input("q")), k.input("qd")
    target = target_of(k, skeleton)
    k.output("transform", homogeneous(target))
    with k.section("columns"):
        k.output("jacobian", _matrix(target.jacobian(target.pose.translation)))
    with k.section("velocities"):
        velocities = skeleton.velocities(qd)
        own = target.velocity(velocities)
        k.output("velocity", [*plus(own.linear, target.anchor_velocity(qd)), *own.angular])
    with k.section("derivative of the velocity"):
        k.output("by_q", _matrix(velocity_gradient(target, velocities, own, qd)))


def velocity_gradient(target: Target, velocities: Sequence[Motion], own: Motion, qd: Sequence[Real]) -> list[Motion]:
    """Return the derivative of a frame's velocity, at its origin in world axes, along each velocity slot.

    A coordinate carries along everything from its joint outwards. With its motion ``(w, u)`` at the origin of the
    frame, the velocity ``(w_0, v_0)`` of the body that carries the joint at that point, and ``(w_f, v_f)`` of the frame

        d w_f = w x (w_f - w_0),    d v_f = w x (v_f - v_0) + w_0 x u.

    Parameters
    ----------
    velocities : sequence of Motion
        Of the bodies, linear ones relative to the anchor's.
    own : Motion
        Of the frame, likewise.
    """
    skeleton = target.skeleton
    columns = [Motion.zero()] * skeleton.model.nv
    for i in target.movers:
        parent, arm = skeleton.tree.parents[i], minus(target.pose.translation, skeleton.poses[i].translation)
        if parent == WORLD:
            carrier, relative = Motion.zero(), Motion(own.angular, plus(own.linear, skeleton.anchor_velocity(i, qd)))
        else:
            reach = minus(target.pose.translation, skeleton.poses[parent].translation)
            carrier = at_point(velocities[parent], reach)
            relative = own - carrier
        for slot, motion in skeleton.columns[i]:
            share = at_point(target.share(i, motion), arm)
            turning = cross(share.angular, relative.angular)
            moving = plus(cross(share.angular, relative.linear), cross(carrier.angular, share.linear))
            columns[slot] = columns[slot] + Motion(turning, moving)
    return columns


def _matrix(columns: Sequence[Motion]) -> list[list[Real]]:
    """Return the matrix of some columns, linear rows first."""
    return rows(column.linear + column.angular for column in columns)


ALGORITHMS = (
    Algorithm(
        name="frame_motion",
        family="kinematics",
        summary="Pose, Jacobian and velocity of a frame, and the derivative of its velocity along the tangent.",
        inputs=(Q, QD, TARGET),
        outputs=(
            Output("transform", ("4", "4"), "x_world = transform x_frame (m)"),
            Output("jacobian", JACOBIAN, "motion per unit of velocity; linear rows first"),
            Output("velocity", ("6",), "J qd: of the frame's origin, then angular, in world axes"),
            Output("by_q", JACOBIAN, "d (J qd) / d q; the derivative along qd is the Jacobian"),
        ),
        emit=emit_frame_motion,
        profiles=("frame-jacobian",),
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 2",
    ),
)
