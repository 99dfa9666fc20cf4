"""What one joint element becomes: a chain of joints of the model's own kinds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from grid_core.model.description import JointElement, Vector
from grid_core.model.placement import Placement

KINDS = {"screw": "helical", "ball": "spherical"}
"""Other names of the same joint."""

WIDTHS = {"floating": (7, 6), "spherical": (4, 3)}
"""``(nq, nv)`` of kinds with more than one coordinate."""

NO_AXIS: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Part:
    """One joint of the model: its name, kind and unit axis."""

    name: str
    kind: str
    axis: Vector


def parts(joint: JointElement) -> tuple[Part, ...]:
    """Joints of the model that stand for one movable joint element, from parent to child.

    A planar joint slides along the two in-plane axes and then turns about its normal; a translation joint slides along
    x, y and z. Bodies between the parts have no mass; damping and friction of the element hold for every part.
    """
    kind = KINDS.get(joint.type, joint.type)
    if kind == "planar":
        normal = unit(joint.axis)
        first, second = plane_axes(normal)
        chain = (("prismatic", first), ("prismatic", second), ("revolute", normal))
    elif kind == "translation":
        chain = (("prismatic", (1.0, 0.0, 0.0)), ("prismatic", (0.0, 1.0, 0.0)), ("prismatic", (0.0, 0.0, 1.0)))
    else:
        return (Part(joint.name, kind, NO_AXIS if kind in WIDTHS else unit(joint.axis)),)
    return tuple(Part(f"{joint.name}__sub{k}", kind, axis) for k, (kind, axis) in enumerate(chain))


def unit(axis: Vector) -> Vector:
    """The direction of an axis; one that is already a unit vector stays as it is written."""
    _, exponent = math.frexp(max(map(abs, axis)))
    scaled = [math.ldexp(value, -exponent) for value in axis]  # exact; squares of it neither overflow nor vanish
    x, y, z = (np.array(scaled) / np.linalg.norm(scaled)).tolist()
    return (x, y, z)


def plane_axes(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit axes that span a plane and form a right-handed frame with its normal.

    The normal's largest component names the next coordinate axis (z: x, x: y, y: z), whose projection comes first.
    """
    n = np.array(normal)
    seed = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
    first = seed - (seed @ n) * n
    first /= np.linalg.norm(first)
    second = np.cross(n, first) + 0.0
    return (first[0], first[1], first[2]), (second[0], second[1], second[2])


def held_at(joint: JointElement, value: float) -> Placement:
    """Placement across a joint with one coordinate that stands still at ``value``."""
    kind = KINDS.get(joint.type, joint.type)
    axis = unit(joint.axis)
    if kind == "prismatic":
        return Placement.from_screw(axis, 0.0, value)
    return Placement.from_screw(axis, value, joint.pitch * value if kind == "helical" else 0.0)
