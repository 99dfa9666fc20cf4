"""Rigid placements: the pose of one frame in another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Float64 array; shapes are stated where it is used."""

ROUNDING = 1e-15
"""Rotation entries this close to 0, 1 or -1 are rounding noise of a sine or cosine and are made exact."""


def frozen(values: object) -> Array:
    """Copy numbers into a read-only float64 array."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Placement:
    """Pose of a child frame in its parent: ``x_parent = rotation @ x_child + translation``.

    Parameters
    ----------
    rotation : ndarray, shape (3, 3)
        Columns are the child's axes in the parent. Read-only.
    translation : ndarray, shape (3,)
        The child's origin in the parent, metres. Read-only.
    """

    rotation: Array
    translation: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", frozen(self.rotation))
        object.__setattr__(self, "translation", frozen(self.translation))

    def __matmul__(self, inner: Placement) -> Placement:
        """Compose: the pose of ``inner``'s child in this placement's parent."""
        rotation = clean_rotation(self.rotation @ inner.rotation)
        return Placement(rotation, self.rotation @ inner.translation + self.translation)

    def inverse(self) -> Placement:
        """Pose of the parent frame in the child."""
        return Placement(self.rotation.T, -(self.rotation.T @ self.translation))

    @classmethod
    def identity(cls) -> Placement:
        """The placement that changes nothing."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_xyz_rpy(cls, xyz: Sequence[float], rpy: Sequence[float]) -> Placement:
        """Placement of a URDF ``<origin>``: metres and fixed-axis roll, pitch, yaw in radians."""
        return cls(clean_rotation(rotation_from_rpy(*rpy)), np.array(xyz, dtype=np.float64))

    @classmethod
    def from_screw(cls, axis: Sequence[float], angle: float, distance: float) -> Placement:
        """Rotate by ``angle`` (rad) about a unit axis through the origin and slide by ``distance`` (m) along it."""
        u = np.array(axis, dtype=np.float64)
        cross = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
        rotation = math.cos(angle) * np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * np.outer(u, u)
        return cls(clean_rotation(rotation), distance * u)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation ``Rz(yaw) Ry(pitch) Rx(roll)``, shape (3, 3), angles in radians."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def clean_rotation(rotation: Array) -> Array:
    """Make entries that differ from 0, 1 or -1 by rounding only exact, so that generated code can drop them."""
    nearest = np.rint(rotation)
    return np.where(np.abs(rotation - nearest) <= ROUNDING, nearest + 0.0, rotation)
