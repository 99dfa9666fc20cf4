"""What the header says about the robot itself: dimensions, joints, limits and frames."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from grid_core.kernel.settings import TraceSettings, dimensions
from grid_core.plugins.frames import frame_numbers

if TYPE_CHECKING:
    from grid_core.model import Frame, Model

ABI = (2, 0, 0)
"""Version of the header's interface, as semantic versioning means it: incompatible change, addition, correction."""


def robot_tables(model: Model, settings: TraceSettings) -> dict[str, Any]:
    """Return what the template of the header's tables is filled with."""
    joints, frames = model.joints, model.frames
    return {
        "abi": ABI,
        "dims": dimensions(model, settings),
        "integers": [
            ("parent", "Body that carries joint i, -1 for the world.", [joint.parent for joint in joints]),
            (
                "q_index",
                "First slot of joint i in a configuration; a mimic joint has those of its target.",
                [joint.q_index for joint in joints],
            ),
            ("v_index", "First slot of joint i in a velocity.", [joint.v_index for joint in joints]),
            ("frame_body", "Body that carries frame i, -1 for the world.", [frame.body for frame in frames]),
            ("end_effector", "Frame of end effector i.", _ids(model, settings.end_effector_frames(model))),
            ("contact_frame", "Frame of contact i.", _ids(model, settings.contacts(model))),
            ("cost_frame", "Frame of cost frame i.", _ids(model, settings.cost_targets(model))),
        ],
        "texts": [
            ("joint_name", "Joint i, which moves body i.", list(model.joint_names)),
            ("frame_name", "Frame i: a joint or a link.", [frame.name for frame in frames]),
        ],
        "reals": [
            ("position_lower", "Least value of coordinate i of a configuration.", _texts(model.lower)),
            ("position_upper", "Largest value of coordinate i of a configuration.", _texts(model.upper)),
            ("velocity_limit", "Largest rate of slot i of a velocity.", _texts(model.velocity_limit)),
            ("effort_limit", "Largest force or torque of slot i.", _texts(model.effort_limit)),
        ],
        "named_first": sorted(range(len(frames)), key=lambda number: frames[number].kind != "joint"),
        "frame_numbers": [", ".join(_texts(frame_numbers(frame))) for frame in frames],
    }


def _ids(model: Model, frames: Iterable[Frame]) -> list[int]:
    return [model.frames.index(frame) for frame in frames]


def _texts(values: Iterable[float]) -> list[str]:
    return [_text(float(value)) for value in values]


def _text(value: float) -> str:
    """Return a number as C++ reads it back exactly."""
    if math.isinf(value):
        return "-INFINITY" if value < 0 else "INFINITY"
    return repr(value).removesuffix(".0")
