"""Poses of end effectors as position and roll, pitch, yaw, and their first derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import Vector
from grid_core.trace.scalar import Real
from grid_plugins.kinematics.rotations import RpyRates, rpy_of
from grid_plugins.kinematics.signature import Q
from grid_plugins.kinematics.targets import Target, end_effectors

SINGULAR = (
    "At a pitch of +-90 degrees roll and yaw turn about one axis: rates of the angles grow beyond all bounds near it "
    "and mean nothing at it. end_effector_jacobian and end_effector_log_pose know no such place."
)


def pose_of(target: Target) -> Vector:
    """Return position and roll, pitch, yaw."""
    return target.position + rpy_of(target.pose.rotation)


def pose_gradient(target: Target) -> list[list[Real]]:
    """Return the rates of :func:`pose_of` (rows) per velocity slot (columns)."""
    rates = RpyRates.at(target.pose.rotation)
    return rows(c.linear + rates.of(c.angular) for c in target.jacobian(target.pose.translation))


def rows(columns: Iterable[Sequence[Real]]) -> list[list[Real]]:
    """Return the six rows of a matrix given by columns, of which there may be none."""
    found = list(columns)
    return [[column[r] for column in found] for r in range(6)]


def emit_end_effector_pose(k: KernelBuilder) -> None:
    pose: list[Real] = []
    for target in end_effectors(k):
        with k.section(target.name):
            pose += pose_of(target)
    k.output("pose", pose)


def emit_end_effector_pose_gradient(k: KernelBuilder) -> None:
    gradient: list[list[Real]] = []
    for target in end_effectors(k):
        with k.section(target.name):
            gradient += pose_gradient(target)
    k.output("gradient", gradient)


ALGORITHMS = (
    Algorithm(
        name="end_effector_pose",
        family="kinematics",
        summary="Pose of every end effector: x, y, z, roll, pitch, yaw, one after the other.",
        inputs=(Q,),
        outputs=(Output("pose", ("6*nee",), "position (m) and R = Rz(yaw) Ry(pitch) Rx(roll) (rad) in the world"),),
        emit=emit_end_effector_pose,
        profiles=("kinematics", "kinematics-derivatives", "frame-jacobian", "energy-regressor"),
        notes="Pitch lies in [-pi/2, pi/2], roll and yaw in [-pi, pi].",
    ),
    Algorithm(
        name="end_effector_pose_gradient",
        family="kinematics",
        summary="Derivative of end_effector_pose along the tangent.",
        inputs=(Q,),
        outputs=(Output("gradient", ("6*nee", "nv"), "d pose / d q"),),
        emit=emit_end_effector_pose_gradient,
        profiles=("kinematics-derivatives",),
        notes=SINGULAR,
    ),
)
