"""The motion of a single joint: the pose of its child body in its parent body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import ArgumentError, nearest
from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.plugins.robot_view import RobotView
from grid_core.trace.functions import equal, select
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Transform
from grid_plugins.integrators.signature import Q

if TYPE_CHECKING:
    from grid_core.model import Joint

SCALAR = ("revolute", "continuous", "prismatic")


def read_joint(robot: RobotView, given: Mapping[str, Any]) -> float:
    """Return the id of a joint from its name or id.

    Raises
    ------
    ArgumentError
        The robot has no such joint.
    """
    joint, names = given["joint"], robot.model.joint_names
    if isinstance(joint, str) and joint in names:
        return float(names.index(joint))
    if isinstance(joint, (int, np.integer)) and not isinstance(joint, bool) and 0 <= joint < len(names):
        return float(joint)
    raise ArgumentError(
        f"joint is {joint!r}, expected the name of a movable joint, or its id from 0 to {len(names) - 1}"
        f"{nearest(str(joint), names)}"
    )


def read_scalar_joint(robot: RobotView, given: Mapping[str, Any]) -> float:
    """Return the id of an independent revolute, continuous or prismatic joint.

    Raises
    ------
    ArgumentError
        The robot has no such joint, or it is of another kind.
    """
    number = read_joint(robot, given)
    joint = robot.model.joints[int(number)]
    if not is_scalar(joint):
        kind = f"follows {joint.mimic!r}" if joint.mimic else f"is {joint.kind}"
        raise ArgumentError(
            f"joint {joint.name!r} {kind}, but only independent revolute, continuous and prismatic joints have a "
            "coordinate of their own that says all; use joint_transform"
        )
    return number


def is_scalar(joint: Joint) -> bool:
    """Return whether one independent coordinate is the angle or the travel of a joint."""
    return joint.kind in SCALAR and joint.mimic is None


def emit_joint_transform(k: KernelBuilder) -> None:
    q = k.input("q")
    _emit(k, range(k.model.nb), lambda number: k.tree.transform(number, q))


def emit_joint_transform_scalar(k: KernelBuilder) -> None:
    coordinate = k.input("coordinate")
    q = [coordinate] * k.model.nq
    numbers = [number for number, joint in enumerate(k.model.joints) if is_scalar(joint)]
    _emit(k, numbers, lambda number: k.tree.transform(number, q))


def _emit(k: KernelBuilder, numbers: Iterable[int], pose: Callable[[int], Transform]) -> None:
    """Set the pose of the joint that was asked for among some."""
    chosen: list[list[Real]] = [[float(r == c) for c in range(4)] for r in range(4)]
    joint = k.input("joint")
    for number in numbers:
        with k.section(k.model.joints[number].name):
            here, transform = equal(joint, float(number)), pose(number)
            for r in range(3):
                row = (*transform.rotation[r], transform.translation[r])
                chosen[r] = [select(here, x, other) for x, other in zip(row, chosen[r])]
    k.output("transform", chosen)


POSE = Output("transform", ("4", "4"), "homogeneous transform from the child's frame to that of the parent body")

ALGORITHMS = (
    Algorithm(
        name="joint_transform",
        family="integrators",
        summary="Pose of the body that a joint moves in the body that carries the joint.",
        inputs=(Input("joint", (), "name or id of a movable joint", read=read_joint, required=True), Q),
        outputs=(POSE,),
        emit=emit_joint_transform,
        profiles=("integrators",),
        notes="Only the coordinates of that joint, or of the one that it follows, count. Fixed links belong to the "
        "body that carries them.",
    ),
    Algorithm(
        name="joint_transform_scalar",
        family="integrators",
        summary="The same from the joint's own coordinate; independent revolute, continuous and prismatic joints.",
        inputs=(
            Input("joint", (), "name or id of a movable joint", read=read_scalar_joint, required=True),
            Input("coordinate", (), "the joint's entry of a configuration (rad, m)"),
        ),
        outputs=(POSE,),
        emit=emit_joint_transform_scalar,
        profiles=("integrators",),
    ),
)
