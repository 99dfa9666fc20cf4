"""What the readers of arguments know of the robot that a call is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from grid_core.kernel.settings import TraceSettings
    from grid_core.model import Model, Placement


@dataclass(frozen=True, eq=False)
class Tool:
    """A rigid tool welded to the body that a joint moves.

    Parameters
    ----------
    joint : str
        Name of the joint.
    body : int
        The body it moves.
    inertia : ndarray, shape (10,)
        Inertial parameters about the body origin, in body axes.
    tip : Placement or None
        Pose of the tip in the joint frame.
    """

    joint: str
    body: int
    inertia: NDArray[np.float64]
    tip: Placement | None


@dataclass(frozen=True)
class RobotView:
    """The robot of a call: its model, the options of its build and the tool that it carries."""

    model: Model
    settings: TraceSettings
    tool: Tool | None = None


Reader = Callable[[RobotView, Mapping[str, Any]], Any]
"""``read(robot, given)``: values of an input, array-like; raises ArgumentError."""
