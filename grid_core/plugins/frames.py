"""Frames that a caller chooses: how names and ids become a body and a pose on it, the numbers that a kernel takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import ArgumentError

if TYPE_CHECKING:
    from grid_core.model import Frame
    from grid_core.plugins.robot_view import RobotView

NUMBERS = ("13",)
"""Shape of :func:`frame_numbers`."""


def frame_of(robot: RobotView, target: Any, argument: str) -> Frame:
    """Return the frame that a name of a joint or link, or the id of a movable joint, stands for.

    Raises
    ------
    ArgumentError
        There is no such frame.
    """
    if isinstance(target, str):
        return robot.model.frame(target)
    if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
        names = robot.model.joint_names
        if 0 <= target < len(names):
            return robot.model.frame(names[target])
        raise ArgumentError(f"{argument} is {target}, but the ids of movable joints are 0 to {len(names) - 1}")
    raise ArgumentError(f"{argument} is {target!r}, expected the name of a joint or link, or the id of a movable joint")


def frame_numbers(frame: Frame) -> list[float]:
    """Return the body of a frame (-1 for the world), then its rotation, row by row, and translation there."""
    return [float(frame.body), *map(float, frame.placement.rotation.flat), *map(float, frame.placement.translation)]
