"""Rigid bodies made of simple solids, written as URDF. The example robots are made with it: their inertias are valid.

Lengths in m, masses in kg, inertias in kg m^2, angles in rad.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float64]]"

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
LYING = {"x": (0.0, 1.570796326794897, 0.0), "y": (1.570796326794897, 0.0, 0.0), "z": (0.0, 0.0, 0.0)}
"""Roll, pitch and yaw that lay a cylinder along an axis."""


@dataclass(frozen=True)
class Solid:
    """A homogeneous solid: mass, centre in link axes, inertia about the centre, and its ``<geometry>``."""

    mass: float
    center: Vector
    inertia: Matrix
    geometry: str
    rpy: Vector = (0.0, 0.0, 0.0)


def box(mass: float, size: Vector, center: Vector) -> Solid:
    """Return a box with edges along the link's axes."""
    x, y, z = (edge**2 for edge in size)
    return Solid(mass, center, mass / 12 * np.diag([y + z, x + z, x + y]), f'<box size="{row(size)}"/>')


def cylinder(mass: float, radius: float, length: float, center: Vector, axis: str) -> Solid:
    """Return a cylinder along the link's ``"x"``, ``"y"`` or ``"z"`` axis."""
    along, across = mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12
    inertia = np.diag([along if name == axis else across for name in AXES])
    return Solid(mass, center, inertia, f'<cylinder radius="{radius:.6g}" length="{length:.6g}"/>', LYING[axis])


def sphere(mass: float, radius: float, center: Vector) -> Solid:
    """Return a full sphere."""
    return Solid(mass, center, 0.4 * mass * radius**2 * np.eye(3), f'<sphere radius="{radius:.6g}"/>')


def combine(solids: tuple[Solid, ...]) -> tuple[float, Matrix, Matrix]:
    """Return mass, centre of mass and inertia about it of solids that move as one body."""
    mass = sum(solid.mass for solid in solids)
    center = sum((solid.mass * np.array(solid.center) for solid in solids), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for solid in solids:
        arm = np.array(solid.center) - center
        inertia += solid.inertia + solid.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, center, inertia


@dataclass
class Robot:
    """A description that grows link by link."""

    name: str
    comment: str
    lines: list[str] = field(default_factory=list)

    def link(self, name: str, *solids: Solid) -> None:
        """Add a link; without solids it is a massless frame."""
        if not solids:
            self.lines.append(f'  <link name="{name}"/>')
            return
        mass, center, inertia = combine(solids)
        moments = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        entries = " ".join(f'{key}="{inertia[place] + 0.0:.6g}"' for key, place in moments.items())
        self.lines += [
            f'  <link name="{name}">',
            "    <inertial>",
            f'      <origin xyz="{row(center)}" rpy="0 0 0"/>',
            f'      <mass value="{mass:.6g}"/>',
            f"      <inertia {entries}/>",
            "    </inertial>",
            *(shape for solid in solids for shape in _shapes(solid)),
            "  </link>",
        ]

    def fixed(self, name: str, parent: str, child: str, xyz: Vector) -> None:
        """Join two links rigidly."""
        self.lines += self._joint(name, "fixed", parent, child, xyz, (0.0, 0.0, 0.0))

    def revolute(
        self,
        name: str,
        parent: str,
        child: str,
        xyz: Vector,
        axis: str,
        *,
        limits: tuple[float, float],
        speed: float,
        torque: float,
        rpy: Vector = (0.0, 0.0, 0.0),
        damping: float = 0.1,
        friction: float = 0.1,
    ) -> None:
        """Join two links by a hinge about the ``"x"``, ``"y"`` or ``"z"`` axis (rad, rad/s, N m)."""
        self.lines += self._joint(
            name,
            "revolute",
            parent,
            child,
            xyz,
            rpy,
            f'    <axis xyz="{row(AXES[axis])}"/>',
            f'    <limit lower="{limits[0]:g}" upper="{limits[1]:g}" velocity="{speed:g}" effort="{torque:g}"/>',
            f'    <dynamics damping="{damping:g}" friction="{friction:g}"/>',
        )

    def text(self) -> str:
        """Return the URDF."""
        head = ['<?xml version="1.0"?>', f"<!-- {self.comment} -->", f'<robot name="{self.name}">']
        return "\n".join([*head, *self.lines, "</robot>", ""])

    @staticmethod
    def _joint(name: str, kind: str, parent: str, child: str, xyz: Vector, rpy: Vector, *more: str) -> list[str]:
        return [
            f'  <joint name="{name}" type="{kind}">',
            f'    <parent link="{parent}"/>',
            f'    <child link="{child}"/>',
            f'    <origin xyz="{row(xyz)}" rpy="{row(rpy, digits=16)}"/>',
            *more,
            "  </joint>",
        ]


def row(values: Vector | Matrix, digits: int = 6) -> str:
    """Return numbers as URDF writes vectors; a negative zero becomes zero."""
    return " ".join(f"{value + 0.0:.{digits}g}" for value in values)


def _shapes(solid: Solid) -> list[str]:
    origin = f'<origin xyz="{row(solid.center)}" rpy="{row(solid.rpy, digits=16)}"/>'
    return [f"    <{use}>{origin}<geometry>{solid.geometry}</geometry></{use}>" for use in ("visual", "collision")]
