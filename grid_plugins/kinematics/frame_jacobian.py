"""Geometric Jacobians of frames and their rates, in the axes and about the point that the caller chooses.

``LOCAL`` and ``WORLD`` are expressed in the frame's and the world's axes; their linear rows belong to the origin of
that frame. ``LOCAL_WORLD_ALIGNED`` has the frame's origin and the world's axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output
from grid_core.plugins.frames import NUMBERS
from grid_core.trace.functions import equal, select
from grid_core.trace.linalg import IDENTITY3, ZERO3, Vector, cross, matvec, minus, negative, plus, transpose
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Transform
from grid_plugins.kinematics.pose import rows
from grid_plugins.kinematics.reading import ALIGNED, LOCAL, WORLD_AXES, read_reference_frame, read_target
from grid_plugins.kinematics.signature import JACOBIAN, QD, Q
from grid_plugins.kinematics.skeleton import Skeleton
from grid_plugins.kinematics.targets import ChosenTarget, Target, at_point, first_end_effector

TARGET = Input(
    "target_jid",
    NUMBERS,
    "frame: the name of a joint or link, or the id of a movable joint; left out, the first end effector",
    absent=Absent.VARIANT,
    keyword_only=True,
    read=read_target,
)
REFERENCE = Input(
    "reference_frame",
    (),
    "'LOCAL' (0), 'WORLD' (1) or 'LOCAL_WORLD_ALIGNED' (2), the default",
    absent=Absent.VARIANT,
    keyword_only=True,
    read=read_reference_frame,
)
AXES = (
    "LOCAL: axes and origin of the frame. WORLD: axes and origin of the world. LOCAL_WORLD_ALIGNED: axes of the world, "
    "origin of the frame."
)


class Reference:
    """The choice of axes and point."""

    def __init__(self, k: KernelBuilder) -> None:
        number = k.input("reference_frame") if k.has("reference_frame") else ALIGNED
        self._local, self._world = equal(number, LOCAL), equal(number, WORLD_AXES)

    def pick(self, local: Vector, world: Vector, aligned: Vector) -> Vector:
        return tuple(
            select(self._local, x, select(self._world, y, z)) for x, y, z in zip(local, world, aligned, strict=True)
        )

    def point(self, target: Target) -> Vector:
        """Return the point whose velocity the linear rows are, relative to the anchor."""
        own = target.pose.translation
        return self.pick(own, negative(target.anchor), own)

    def expressed(self, columns: Sequence[Motion], target: Target) -> list[list[Real]]:
        """Return the matrix of some columns in the chosen axes, linear rows first."""
        local = transpose(target.pose.rotation)
        axes = tuple(self.pick(row, unit, unit) for row, unit in zip(local, IDENTITY3))
        return rows(matvec(axes, c.linear) + matvec(axes, c.angular) for c in columns)


def target_of(k: KernelBuilder, skeleton: Skeleton) -> Target:
    """Return the frame that the caller chose, or the first end effector."""
    if not k.has("target_jid"):
        return first_end_effector(k, skeleton)
    body, *nine, x, y, z = k.input("target_jid")
    return ChosenTarget(skeleton, body, Transform((tuple(nine[:3]), tuple(nine[3:6]), tuple(nine[6:])), (x, y, z)))


def emit_frame_jacobian(k: KernelBuilder) -> None:
    reference, target = Reference(k), target_of(k, Skeleton(k, k.input("q")))
    with k.section("columns"):
        k.output("jacobian", reference.expressed(target.jacobian(reference.point(target)), target))


def emit_frame_jacobian_dot(k: KernelBuilder) -> None:
    skeleton, qd, reference = Skeleton(k, k.input("q")), k.input("qd"), Reference(k)
    target = target_of(k, skeleton)
    with k.section("velocities"):
        velocities = skeleton.velocities(qd)
        own = target.velocity(velocities)
        axes = reference.pick(own.angular, ZERO3, ZERO3)
        point = reference.pick(own.linear, negative(target.anchor_velocity(qd)), own.linear)
    with k.section("columns"):
        columns = jacobian_rate(target, reference.point(target), velocities, Motion(axes, point))
        k.output("rate", reference.expressed(columns, target))


def jacobian_rate(target: Target, point: Vector, velocities: Sequence[Motion], moving: Motion) -> list[Motion]:
    """Return the rate of change of :meth:`Target.jacobian`, seen from axes that turn, about a point that moves.

    Parameters
    ----------
    point : Vector
        Relative to the anchor.
    velocities : sequence of Motion
        Of the bodies, linear ones relative to the anchor's.
    moving : Motion
        Angular velocity of the axes and velocity of the point relative to the anchor's, in world axes.
    """
    columns = [Motion.zero()] * target.skeleton.model.nv
    for i in target.movers:
        arm = minus(point, target.skeleton.poses[i].translation)
        arm_rate = minus(minus(moving.linear, velocities[i].linear), cross(moving.angular, arm))
        spin = minus(velocities[i].angular, moving.angular)
        for slot, motion in target.skeleton.columns[i]:
            own = target.share(i, motion)
            turned = Motion(cross(spin, own.angular), cross(spin, own.linear))
            rate = at_point(turned, arm)
            columns[slot] = columns[slot] + Motion(rate.angular, plus(rate.linear, cross(own.angular, arm_rate)))
    return columns


ALGORITHMS = (
    Algorithm(
        name="frame_jacobian",
        family="kinematics",
        summary="Geometric Jacobian of a frame: linear, then angular velocity per unit of qd.",
        inputs=(Q, TARGET, REFERENCE),
        outputs=(Output("jacobian", JACOBIAN, "motion per unit of velocity; linear rows first"),),
        emit=emit_frame_jacobian,
        profiles=("frame-jacobian",),
        notes=AXES,
    ),
    Algorithm(
        name="frame_jacobian_dot",
        family="kinematics",
        summary="Rate of change of frame_jacobian while the robot moves with qd.",
        inputs=(Q, QD, TARGET, REFERENCE),
        outputs=(Output("rate", JACOBIAN, "d/dt of the Jacobian; linear rows first"),),
        emit=emit_frame_jacobian_dot,
        profiles=("frame-jacobian",),
        notes=AXES,
    ),
)
