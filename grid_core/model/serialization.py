"""Models as JSON text: every number survives to the last bit, the same model always gives the same text."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import ArgumentError
from grid_core.model.placement import Placement

if TYPE_CHECKING:
    from grid_core.model.model import Model

FORMAT = 1
"""Raised when the layout of the text changes."""


def dump(model: Model) -> str:
    """Write a model as JSON (infinite limits as the strings ``"inf"`` and ``"-inf"``)."""
    return json.dumps({"format": FORMAT} | _plain(model), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def load(text: str) -> Model:
    """Read a model that :func:`dump` wrote.

    Raises
    ------
    ArgumentError
        The text has another format number.
    """
    from grid_core.model.model import Body, Frame, Joint, Model

    plain = json.loads(text)
    found = plain.pop("format", None)
    if found != FORMAT:
        raise ArgumentError(
            f"model text has format {found!r}, this version reads {FORMAT}; load the robot's description again"
        )
    joints = tuple(Joint(**_joint_fields(joint)) for joint in plain.pop("joints"))
    bodies = tuple(Body(**body | {"links": tuple(body["links"])}) for body in plain.pop("bodies"))
    frames = tuple(Frame(**_placed(frame)) for frame in plain.pop("frames"))
    return Model(joints=joints, bodies=bodies, frames=frames, **plain)


def _placed(plain: dict[str, Any]) -> dict[str, Any]:
    return plain | {"placement": Placement(**plain["placement"])}


def _joint_fields(plain: dict[str, Any]) -> dict[str, Any]:
    bounds = {key: float(plain[key]) for key in ("lower", "upper", "velocity_limit", "effort_limit")}
    return _placed(plain) | bounds | {"axis": tuple(plain["axis"])}
