"""Inertias that move the joints in the same way, with as many zeros as possible.

An inertia that a joint cannot tell apart from one fixed to its parent may be moved there: for a revolute joint any
line of mass along the axis (mass, first moment along the axis, equal rotational inertia about both perpendicular
directions), for a prismatic joint any pure rotational inertia, for a spherical joint a point mass at its centre. The
joint's own motion gives the moved part no momentum, so that joint torques, momentum and kinetic energy of the robot are
unchanged for every motion, gravity and external force; three to six of the ten numbers of each body become zero and
their operations vanish. What reaches the world does not move: it counts for the centre of mass and the potential
energy only.

The idea is the grouping of inertial parameters for a minimal dynamic model (Khalil and Dombre, Modeling,
Identification and Control of Robots, 2002, ch. 9); here the moved part is described directly by the symmetry of the
joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from grid_core.trace.linalg import matrix, vector
from grid_core.trace.spatial import Inertia, symmetric

if TYPE_CHECKING:
    from grid_core.model import Joint, Model

Array = NDArray[np.float64]
Parameters = tuple[float, Array, Array]
"""Mass, first moment (3,), rotational inertia about the origin (3, 3)."""


@dataclass(frozen=True)
class Lumped:
    """One inertia per body, about its origin in body axes, and that of the world, about the world's origin."""

    bodies: tuple[Inertia, ...]
    world: Inertia


def lump(model: Model) -> Lumped:
    """Return inertias with the momentum, the energies and the joint-space dynamics of the model."""
    bodies: list[Parameters] = [
        (b.mass, np.array(b.first_moment, float), np.array(b.inertia, float)) for b in model.bodies
    ]
    world: Parameters = (0.0, np.zeros(3), np.zeros((3, 3)))
    for i in reversed(range(model.nb)):
        joint = model.joints[i]
        moved = _indistinguishable(joint, bodies[i])
        bodies[i] = (bodies[i][0] - moved[0], bodies[i][1] - moved[1], bodies[i][2] - moved[2])
        if joint.parent >= 0:
            bodies[joint.parent] = _add_at(bodies[joint.parent], moved, joint)
        else:
            world = _add_at(world, moved, joint)
    return Lumped(tuple(map(_inertia, bodies)), _inertia(world))


def _inertia(parameters: Parameters) -> Inertia:
    mass, h, inertia = parameters
    return Inertia(float(mass), vector(h), symmetric(matrix(inertia)))


def _indistinguishable(joint: Joint, body: Parameters) -> Parameters:
    """Return the part of a body's inertia that its joint moves like a part of the parent, about the joint's origin."""
    mass, h, inertia = body
    zero, none = np.zeros(3), np.zeros((3, 3))
    if joint.kind == "prismatic":
        return 0.0, zero, inertia
    if joint.kind == "spherical":
        return mass, zero, none
    if joint.kind not in ("revolute", "continuous"):
        return 0.0, zero, none
    axis = np.array(joint.axis, float)
    along_axis = 0.5 * float(np.trace(inertia)) - float(axis @ inertia @ axis)
    return mass, axis * float(axis @ h), along_axis * (np.eye(3) - np.outer(axis, axis))


def _add_at(body: Parameters, moved: Parameters, joint: Joint) -> Parameters:
    """Add ``moved``, given about the joint's origin in child axes at zero, to the parent's parameters."""
    mass, h, inertia = moved
    r, p = np.array(joint.placement.rotation, float), np.array(joint.placement.translation, float)
    h = r @ h
    at_origin = h + mass * p
    cross = np.outer(p, h)
    shift = (2.0 * float(p @ h) + mass * float(p @ p)) * np.eye(3) - cross - cross.T - mass * np.outer(p, p)
    return body[0] + mass, body[1] + at_origin, body[2] + r @ inertia @ r.T + shift
