"""Rigid tools: what a caller says of one becomes inertial parameters of the body that carries it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grid_backends.numpy.arguments import as_real
from grid_core.errors import ArgumentError
from grid_core.model import Model, Placement
from grid_core.model.description import MAGNITUDE
from grid_core.plugins.robot_view import Tool

Array = NDArray[np.float64]

UPPER = np.triu_indices(3)


def tool_of(
    model: Model, joint: str, mass: float, com: ArrayLike, inertia: ArrayLike | None, tip_transform: ArrayLike | None
) -> Tool:
    """Return the tool that :meth:`attach_tool` was told of.

    Raises
    ------
    ArgumentError
        There is no such joint, it does not move, or a value does not fit.
    """
    try:
        frame = model.frame(joint)
    except ArgumentError as error:
        raise ArgumentError(f"attach_tool: {error}") from None
    if frame.body < 0:
        raise ArgumentError(f"attach_tool: {joint!r} is fixed to the world; name a joint that a movable one carries")
    weight = _numbers(mass, "mass", ((),))
    if weight < 0.0:
        raise ArgumentError(f"attach_tool: mass is {mass!r}, expected at least 0 kg")
    centre = _numbers(com, "com", ((3,),))
    about_centre = _symmetric(inertia)
    place = frame.placement
    c = place.rotation @ centre + place.translation
    turned = place.rotation @ about_centre @ place.rotation.T
    about_origin = turned + weight * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    parameters = np.concatenate([[weight], weight * c, about_origin[UPPER]])
    return Tool(joint, frame.body, parameters, None if tip_transform is None else _pose(tip_transform))


def _symmetric(inertia: ArrayLike | None) -> Array:
    if inertia is None:
        return np.zeros((3, 3))
    given = _numbers(inertia, "inertia", ((3, 3), (6,)))
    if given.shape == (3, 3):
        if not np.allclose(given, given.T, rtol=1e-6, atol=1e-12):
            raise ArgumentError("attach_tool: inertia is not symmetric; give a symmetric 3x3 matrix or 6 entries")
        return np.asarray(0.5 * (given + given.T))
    full = np.zeros((3, 3))
    full[UPPER] = given
    return np.asarray(full + np.triu(full, 1).T)


def _pose(value: ArrayLike) -> Placement:
    pose = _numbers(value, "tip_transform", ((4, 4),))
    rotation = pose[:3, :3]
    proper = np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6) and np.linalg.det(rotation) > 0.0
    if not proper or not np.allclose(pose[3], [0.0, 0.0, 0.0, 1.0]):
        raise ArgumentError(
            "attach_tool: tip_transform is no pose; its upper left 3x3 block is a rotation and its last row 0 0 0 1"
        )
    return Placement(rotation, pose[:3, 3])


def _numbers(value: Any, name: str, shapes: tuple[tuple[int, ...], ...]) -> Array:
    array = as_real(value, f"attach_tool: {name}", np.dtype(np.float64)).astype(np.float64)
    if array.shape not in shapes or not np.all(np.abs(array) <= MAGNITUDE):
        expected = " or ".join("a number" if not shape else str(shape) for shape in shapes)
        raise ArgumentError(
            f"attach_tool: {name} is {value!r:.80}, expected {expected}, at most {MAGNITUDE:g} in magnitude"
        )
    return array
