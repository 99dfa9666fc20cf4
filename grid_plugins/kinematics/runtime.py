"""End-effector poses of frames that the caller names, at offsets that the caller gives."""

from __future__ import annotations

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.trace.spatial import Transform
from grid_plugins.kinematics.pose import SINGULAR, pose_gradient, pose_of
from grid_plugins.kinematics.reading import read_bodies, read_poses
from grid_plugins.kinematics.signature import JACOBIAN, Q
from grid_plugins.kinematics.skeleton import Skeleton
from grid_plugins.kinematics.targets import ChosenTarget

NAMES = Input(
    "ee_joint_names",
    (),
    "frames: the name of a joint or link, or a list of names; left out, the tip of the attached tool if it has one, "
    "else the end effectors of the build",
    read=read_bodies,
    each=True,
)
OFFSETS = Input(
    "ee_offsets",
    ("3", "4"),
    "offset of what is measured in each frame, or one for all: [x, y, z], [x, y, z, 1] or a rigid 4x4 matrix (m)",
    read=read_poses,
    each=True,
)


def chosen(k: KernelBuilder) -> ChosenTarget:
    """Return the target that the inputs name."""
    rows = k.input("ee_offsets")
    pose = Transform(tuple(tuple(row[:3]) for row in rows), tuple(row[3] for row in rows))
    return ChosenTarget(Skeleton(k, k.input("q")), k.input("ee_joint_names"), pose)


def emit_end_effector_pose_runtime(k: KernelBuilder) -> None:
    k.output("pose", pose_of(chosen(k)))


def emit_end_effector_pose_gradient_runtime(k: KernelBuilder) -> None:
    k.output("gradient", pose_gradient(chosen(k)))


ALGORITHMS = (
    Algorithm(
        name="end_effector_pose_runtime",
        family="kinematics",
        summary="Pose of named frames: x, y, z, roll, pitch, yaw.",
        inputs=(Q, NAMES, OFFSETS),
        outputs=(Output("pose", ("6",), "position (m) and R = Rz(yaw) Ry(pitch) Rx(roll) (rad) in the world"),),
        emit=emit_end_effector_pose_runtime,
        notes="Names are read when the method is called: any frame, without another build.",
    ),
    Algorithm(
        name="end_effector_pose_gradient_runtime",
        family="kinematics",
        summary="Derivative of end_effector_pose_runtime along the tangent.",
        inputs=(Q, NAMES, OFFSETS),
        outputs=(Output("gradient", JACOBIAN, "d pose / d q"),),
        emit=emit_end_effector_pose_gradient_runtime,
        notes=SINGULAR,
    ),
)
