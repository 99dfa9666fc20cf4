"""A robot description as plain data, as it was written: nothing is judged, merged or ordered yet."""

from __future__ import annotations

import math
from dataclasses import dataclass

Vector = tuple[float, float, float]

MAGNITUDE = 1e9
"""Largest size of a number of a description, in its SI unit; axes only point, limits beyond it are no limits.

Products of four such numbers, as the inertia ``m c^2`` of a mimic joint's body seen through its multiplier has them,
are finite in single precision.
"""


@dataclass(frozen=True)
class InertialElement:
    """Mass (kg), pose of the centre of mass, and ``(ixx, ixy, ixz, iyy, iyz, izz)`` (kg m^2) about it."""

    mass: float
    xyz: Vector
    rpy: Vector
    inertia: tuple[float, float, float, float, float, float]
    line: int


@dataclass(frozen=True)
class LinkElement:
    """A link; ``inertial`` is None for one without mass."""

    name: str
    line: int
    inertial: InertialElement | None = None

    @property
    def item(self) -> str:
        """How messages name it."""
        return f"link {self.name!r}"


@dataclass(frozen=True)
class MimicElement:
    """``value = multiplier * value(joint) + offset``."""

    joint: str
    multiplier: float
    offset: float
    line: int


@dataclass(frozen=True)
class JointElement:
    """A joint between two links; defaults are those of the format, missing limits are infinite."""

    name: str
    type: str
    line: int
    parent: str
    child: str
    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (1.0, 0.0, 0.0)
    pitch: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    mimic: MimicElement | None = None

    @property
    def item(self) -> str:
        """How messages name it."""
        return f"joint {self.name!r}"


@dataclass(frozen=True)
class Description:
    """Links and joints in document order."""

    name: str
    links: tuple[LinkElement, ...]
    joints: tuple[JointElement, ...]
