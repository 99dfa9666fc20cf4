"""Frames that a caller chooses: how names, ids, offsets and choices become numbers for a kernel.

A chosen target is the number of a body (-1 for the world) and a pose in that body's frame. In the kernel the body's own
pose is picked by comparing numbers. Bodies are numbered depth first, so that those which a joint moves have consecutive
numbers, and whether it moves the target is one comparison; see :mod:`grid_plugins.kinematics.targets`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_core.errors import ArgumentError, nearest
from grid_core.model import Placement
from grid_core.plugins.frames import frame_numbers, frame_of
from grid_core.plugins.robot_view import RobotView

Array = NDArray[np.float64]

REFERENCE_FRAMES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
"""Axes and point of a Jacobian; the position in this list is the number of the choice."""

LOCAL, WORLD_AXES, ALIGNED = 0.0, 1.0, 2.0
"""The numbers of the choices."""

RIGID = 1e-5
"""How far a rotation may be from an orthogonal matrix: single precision, rounded a few times."""


def read_target(robot: RobotView, given: Mapping[str, Any]) -> list[float] | None:
    """Return body, rotation (row by row) and translation of the frame ``target_jid``.

    Nothing for the default, the first end effector, whether it is named or not: its kernel does less.
    """
    if given["target_jid"] is None:
        return None
    frame = frame_of(robot, given["target_jid"], "target_jid")
    if any(frame is first for first in robot.settings.end_effector_frames(robot.model)[:1]):
        return None
    return frame_numbers(frame)


def read_reference_frame(robot: RobotView, given: Mapping[str, Any]) -> float | None:  # noqa: ARG001
    """Return the number of the reference frame; nothing for the default, whose kernel does less.

    Raises
    ------
    ArgumentError
        There is no such choice.
    """
    value = given["reference_frame"]
    if value is None:
        return None
    choice = getattr(value, "name", value)
    if isinstance(choice, str) and choice in REFERENCE_FRAMES:
        value = REFERENCE_FRAMES.index(choice)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < len(REFERENCE_FRAMES):
        return None if value == ALIGNED else float(value)
    numbered = ", ".join(f"{name!r} ({number})" for number, name in enumerate(REFERENCE_FRAMES))
    raise ArgumentError(f"reference_frame is {value!r}{nearest(str(choice), REFERENCE_FRAMES)}; expected {numbered}")


def read_bodies(robot: RobotView, given: Mapping[str, Any]) -> list[float]:
    """Return the bodies of the targets ``ee_joint_names``, one each."""
    return [float(body) for body, _ in _targets(robot, given["ee_joint_names"])]


def read_poses(robot: RobotView, given: Mapping[str, Any]) -> list[Array]:
    """Return the poses of the targets ``ee_joint_names`` with ``ee_offsets`` in their bodies, (3, 4) each."""
    targets = _targets(robot, given["ee_joint_names"])
    offsets = _offsets(given["ee_offsets"], len(targets))
    poses = [placement @ offset for (_, placement), offset in zip(targets, offsets)]
    return [np.column_stack([pose.rotation, pose.translation]) for pose in poses]


def _targets(robot: RobotView, names: Any) -> list[tuple[int, Placement]]:
    """Return bodies and poses in them: what is named, else the tip of the tool, else the end effectors of the build."""
    if names is None and robot.tool is not None and robot.tool.tip is not None:
        return [(robot.tool.body, robot.model.frame(robot.tool.joint).placement @ robot.tool.tip)]
    if names is None:
        frames = robot.settings.end_effector_frames(robot.model)
    else:
        listed = names if isinstance(names, (list, tuple, np.ndarray)) else [names]
        frames = tuple(frame_of(robot, name, "ee_joint_names") for name in listed)
    if not frames:
        raise ArgumentError("ee_joint_names is empty; name at least one joint or link")
    return [(frame.body, frame.placement) for frame in frames]


def _offsets(value: Any, count: int) -> list[Placement]:
    """Return one offset per target; a single one holds for all."""
    if value is None:
        return [Placement.identity()] * count
    listed = [value] * count if _is_single(value, count) else list(value)
    if len(listed) != count:
        raise ArgumentError(f"ee_offsets has {len(listed)} offsets for {count} targets; give one, or one for each")
    return [offset_of(item, "ee_offsets") for item in listed]


def _is_single(value: Any, count: int) -> bool:
    """Return whether offsets for ``count`` targets are one for all; four points with a 1 have the shape of one pose."""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return True
    try:
        shape = np.shape(value)
    except ValueError:
        return False  # points beside poses
    return len(shape) == 1 or (shape == (4, 4) and (count != 4 or _is_pose(value)))


def offset_of(value: Any, argument: str) -> Placement:
    """Return the placement of an offset ``[x y z]``, ``[x y z 1]`` or a rigid 4x4 matrix.

    Raises
    ------
    ArgumentError
        It is none of these.
    """
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape == (4,) and array[3] == 1.0:
        array = array[:3]
    if array.shape == (3,) and np.isfinite(array).all():
        return Placement(np.eye(3), array)
    if array.shape == (4, 4) and _is_pose(array):
        return Placement(array[:3, :3], array[:3, 3])
    raise ArgumentError(f"{argument}: {value!r} is no offset; expected [x, y, z], [x, y, z, 1] or a rigid 4x4 matrix")


def _is_pose(value: Any) -> bool:
    """Return whether a 4x4 array is a rigid motion."""
    m = np.asarray(value, np.float64)
    rotation = m[:3, :3]
    return (
        bool(np.isfinite(m).all())
        and np.abs(m[3] - [0.0, 0.0, 0.0, 1.0]).max() <= RIGID
        and np.abs(rotation @ rotation.T - np.eye(3)).max() <= RIGID
        and np.linalg.det(rotation) > 0.0
    )


def read_tool_body(robot: RobotView, given: Mapping[str, Any]) -> float:
    """Return the body that the wrench of a tool acts on."""
    return float(_contact(robot, given)[0])


def read_tool_point(robot: RobotView, given: Mapping[str, Any]) -> Array:
    """Return the point at which the wrench of a tool acts, in its body's frame."""
    return _contact(robot, given)[1]


def _contact(robot: RobotView, given: Mapping[str, Any]) -> tuple[int, Array]:
    joint, offset, tool = given["joint"], given["offset"], robot.tool
    if joint is None and tool is None:
        raise ArgumentError("no tool is attached; name the joint whose link the wrench acts on")
    frame = frame_of(robot, tool.joint if joint is None and tool is not None else joint, "joint")
    if frame.body < 0:
        raise ArgumentError(f"joint {frame.name!r} is fixed to the world, where a wrench moves nothing")
    if offset is None:
        tip = tool.tip if joint is None and tool is not None else None
        return frame.body, (frame.placement @ (tip or Placement.identity())).translation
    return frame.body, (frame.placement @ offset_of(offset, "offset")).translation


def read_use_warp(robot: RobotView, given: Mapping[str, Any]) -> None:
    """Leave the argument out: there is one way to compute this."""
