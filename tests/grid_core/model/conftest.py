"""Shared by the model's tests: a plain forward kinematics and a one-line way to load without warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_core.model import Joint, Model, Placement, URDFWarning, load_model
from grid_core.model.lie import rotate

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    return GOLDEN


@pytest.fixture(scope="session")
def quiet_load() -> Callable[..., Model]:
    """``load_model`` with its warnings silenced."""

    def load(source: Any, **options: Any) -> Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", URDFWarning)
            return load_model(source, **options)

    return load


def joint_motion(joint: Joint, q: Any) -> Placement:
    """Pose of the child body in the joint frame."""
    value = q[joint.q_index : joint.q_index + joint.nq]
    if joint.kind in ("floating", "spherical"):
        rotation = np.column_stack([rotate(np.asarray(value[-4:]), axis) for axis in np.eye(3)])
        return Placement(rotation, value[:3] if joint.kind == "floating" else np.zeros(3))
    scalar = joint.multiplier * value[0] + joint.offset
    if joint.kind == "prismatic":
        return Placement.from_screw(joint.axis, 0.0, scalar)
    return Placement.from_screw(joint.axis, scalar, joint.pitch * scalar)


@pytest.fixture(scope="session")
def world_placements() -> Callable[[Model, Any], dict[str, Placement]]:
    """World pose of every frame by name; a joint wins over a link of the same name."""

    def place(model: Model, q: Any) -> dict[str, Placement]:
        bodies: list[Placement] = []
        for joint in model.joints:
            parent = bodies[joint.parent] if joint.parent >= 0 else Placement.identity()
            bodies.append(parent @ joint.placement @ joint_motion(joint, q))
        frames = {}
        for name in dict.fromkeys(frame.name for frame in model.frames):
            frame = model.frame(name)
            frames[name] = (bodies[frame.body] if frame.body >= 0 else Placement.identity()) @ frame.placement
        return frames

    return place
