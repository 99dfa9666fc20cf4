"""Poses without angles: unit quaternions, rotation vectors and homogeneous matrices, and geometric Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output
from grid_core.trace.lie import quaternion_of
from grid_core.trace.linalg import matvec
from grid_core.trace.scalar import Real
from grid_plugins.kinematics.pose import rows
from grid_plugins.kinematics.reading import read_use_warp
from grid_plugins.kinematics.rotations import RotationVector
from grid_plugins.kinematics.signature import Q
from grid_plugins.kinematics.skeleton import Skeleton
from grid_plugins.kinematics.targets import FixedTarget, Target, end_effectors, first_end_effector

QUATERNION = "x, y, z (m), unit quaternion x, y, z, w with w >= 0"


def placement(target: FixedTarget) -> list[Real]:
    """Return position and quaternion xyzw."""
    return [*target.position, *quaternion_of(target.pose.rotation)]


def homogeneous(target: Target) -> list[list[Real]]:
    """Return the 4x4 matrix of a pose."""
    upper: list[list[Real]] = [[*row, p] for row, p in zip(target.pose.rotation, target.position)]
    return [*upper, [0.0, 0.0, 0.0, 1.0]]


def log_pose(target: FixedTarget) -> list[Real]:
    """Return position and rotation vector."""
    return [*target.position, *RotationVector.of(target.pose.rotation).vector]


def log_pose_gradient(target: FixedTarget) -> list[list[Real]]:
    """Return the rates of :func:`log_pose` (rows) per velocity slot (columns)."""
    rates = RotationVector.of(target.pose.rotation).rates
    return rows(c.linear + matvec(rates, c.angular) for c in target.jacobian(target.pose.translation))


def geometric_jacobian(target: FixedTarget) -> list[list[Real]]:
    return rows(c.linear + c.angular for c in target.jacobian(target.pose.translation))


def for_end_effectors(output: str, make: Callable[[FixedTarget], Any]) -> Callable[[KernelBuilder], None]:
    """Return an emitter that makes something of every end effector."""

    def emit(k: KernelBuilder) -> None:
        made = []
        for target in end_effectors(k):
            with k.section(target.name):
                made.append(make(target))
        k.output(output, made)

    return emit


def for_frames(output: str, make: Callable[[FixedTarget], Any]) -> Callable[[KernelBuilder], None]:
    """Return an emitter that makes something of every frame."""

    def emit(k: KernelBuilder) -> None:
        skeleton, made = Skeleton(k, k.input("q")), []
        for frame in k.model.frames:
            with k.section(frame.name):
                made.append(make(FixedTarget(skeleton, frame)))
        k.output(output, made)

    return emit


def emit_fk_batched(k: KernelBuilder) -> None:
    target = first_end_effector(k, Skeleton(k, k.input("q")))
    x, y, z, w = quaternion_of(target.pose.rotation)
    k.output("pose", [*target.position, w, x, y, z])


ALGORITHMS = (
    Algorithm(
        name="fk_batched",
        family="kinematics",
        summary="Pose of the first end effector: x, y, z, then the unit quaternion w, x, y, z (scalar first).",
        inputs=(
            Q,
            Input(
                "use_warp",
                (),
                "taken for compatibility; there is one way to compute this",
                default=False,
                absent=Absent.ZERO,
                keyword_only=True,
                read=read_use_warp,
            ),
        ),
        outputs=(Output("pose", ("7",), "position (m) and quaternion w, x, y, z with w >= 0"),),
        emit=emit_fk_batched,
        profiles=("kinematics", "kinematics-derivatives"),
        notes="Configurations and end_effector_placement have the scalar part of quaternions last.",
    ),
    Algorithm(
        name="end_effector_placement",
        family="kinematics",
        summary="Position and unit quaternion of every end effector.",
        inputs=(Q,),
        outputs=(Output("placement", ("nee", "7"), QUATERNION),),
        emit=for_end_effectors("placement", placement),
        profiles=("kinematics", "kinematics-derivatives"),
        source="Shepperd, Quaternion from rotation matrix, 1978",
    ),
    Algorithm(
        name="end_effector_jacobian",
        family="kinematics",
        summary="Geometric Jacobian of every end effector: linear, then angular velocity, world axes, at its origin.",
        inputs=(Q,),
        outputs=(Output("jacobian", ("nee", "6", "nv"), "motion per unit of velocity; linear rows first"),),
        emit=for_end_effectors("jacobian", geometric_jacobian),
        profiles=("kinematics-derivatives", "frame-jacobian"),
    ),
    Algorithm(
        name="end_effector_log_pose",
        family="kinematics",
        summary="Position and rotation vector (axis times angle) of every end effector.",
        inputs=(Q,),
        outputs=(Output("pose", ("nee", "6"), "x, y, z (m) and the logarithm of the rotation, angle in [0, pi]"),),
        emit=for_end_effectors("pose", log_pose),
        profiles=("kinematics", "kinematics-derivatives"),
        notes="Smooth up to an angle of pi, where the vector jumps to the opposite one.",
        source="Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics, 2018",
    ),
    Algorithm(
        name="end_effector_log_pose_gradient",
        family="kinematics",
        summary="Derivative of end_effector_log_pose along the tangent.",
        inputs=(Q,),
        outputs=(Output("gradient", ("nee", "6", "nv"), "d pose / d q"),),
        emit=for_end_effectors("gradient", log_pose_gradient),
        profiles=("kinematics-derivatives",),
        source="Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics, 2018, eq. 146",
    ),
    Algorithm(
        name="frame_placements",
        family="kinematics",
        summary="Position and unit quaternion of every frame, joints and links, in the order of the model's frames.",
        inputs=(Q,),
        outputs=(Output("placements", ("nf", "7"), QUATERNION),),
        emit=for_frames("placements", placement),
        profiles=("kinematics", "kinematics-derivatives"),
        source="Shepperd, Quaternion from rotation matrix, 1978",
    ),
    Algorithm(
        name="frame_transforms",
        family="kinematics",
        summary="Homogeneous matrix of every frame, joints and links, in the order of the model's frames.",
        inputs=(Q,),
        outputs=(Output("transforms", ("nf", "4", "4"), "x_world = transform x_frame (m)"),),
        emit=for_frames("transforms", homogeneous),
        profiles=("kinematics", "kinematics-derivatives"),
    ),
)
