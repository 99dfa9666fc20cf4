"""A robot at one configuration: subtrees in body axes, poses in world axes, the centre of mass.

Subtrees are accumulated in body axes, where motion subspaces are sparse and a revolute joint leaves one axis alone.
Positions are relative to the *ground point*, the origin of a free base (that of the world for other robots), so that
nothing but the position of the centre of mass itself depends on where a base is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from grid_core.kernel.builder import KernelBuilder
from grid_core.trace.linalg import ZERO3, Matrix, Vector, cross, dot, matvec, minus, plus, scale
from grid_core.trace.scalar import Real, div
from grid_core.trace.spatial import Inertia, Motion, Symmetric, Transform


@dataclass(frozen=True)
class Anchored:
    """A subtree with the point about which its momentum is taken.

    Parameters
    ----------
    inertia : Inertia
        About the point, in body axes.
    offset : Vector
        The point relative to the body's origin, in body axes.
    arm : Vector
        The point relative to the centre of mass, in world axes.
    rotation : Matrix
        From body to world axes.
    """

    inertia: Inertia
    offset: Vector
    arm: Vector
    rotation: Matrix

    def at_point(self, s: Motion) -> Motion:
        """Return a motion of the body with the linear velocity of the point."""
        return Motion(s.angular, plus(s.linear, cross(s.angular, self.offset)))

    @property
    def about_centre(self) -> Transform:
        """From body axes about the point to world axes about the centre of mass."""
        return Transform(self.rotation, self.arm)


class Posture:
    """The robot at ``q``.

    Attributes
    ----------
    transforms : list of Transform
        Per body, its pose in its parent; a free base is at the ground point.
    poses : list of Transform
        Per body, its pose in world axes about the ground point.
    ground : Vector
        World position of the ground point.
    subtrees : list of Inertia
        Per body, the inertia of its subtree about the body origin in body axes, lumped: masses are not those of links.
    """

    def __init__(self, k: KernelBuilder, q: Sequence[Real]) -> None:
        self.model, self.tree = k.model, k.tree
        self.transforms = [self.tree.transform(i, q) for i in range(k.model.nb)]
        self.ground = ZERO3
        if self.free:
            self.ground = self.transforms[0].translation
            self.transforms[0] = Transform(self.transforms[0].rotation)
        self.poses: list[Transform] = []
        for i, parent in enumerate(self.tree.parents):
            with k.section(f"pose of {k.model.joints[i].name}"):
                self.poses.append(self.poses[parent] @ self.transforms[i] if parent >= 0 else self.transforms[i])
        self.subtrees = list(self.tree.lumped_inertias)
        for i in reversed(range(k.model.nb)):
            parent = self.tree.parents[i]
            if parent >= 0:
                with k.section(f"subtree of {k.model.joints[i].name}"):
                    self.subtrees[parent] = self.subtrees[parent] + self.subtrees[i].to_parent(self.transforms[i])

    @cached_property
    def free(self) -> bool:
        """Whether the robot is one tree on a free base, so that its first joint moves all of it."""
        return self.tree.parents.count(-1) == 1 and self.model.joints[0].kind == "floating"

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Bodies that the world carries."""
        return tuple(i for i, parent in enumerate(self.tree.parents) if parent < 0)

    @cached_property
    def mass(self) -> Real:
        """Mass of the robot."""
        total = self.tree.world_inertia.mass
        for i in self.roots:
            total = total + self.subtrees[i].mass
        return total

    @cached_property
    def inverse_mass(self) -> Real:
        return div(1.0, self.mass)

    @cached_property
    def centre(self) -> Vector:
        """Centre of mass relative to the ground point, in world axes."""
        moment = self.tree.world_inertia.moment
        for i in self.roots:
            pose, subtree = self.poses[i], self.subtrees[i]
            own = plus(matvec(pose.rotation, subtree.moment), scale(pose.translation, subtree.mass))
            moment = plus(moment, own)
        return scale(moment, self.inverse_mass)

    def is_base(self, i: int) -> bool:
        """Return whether body ``i`` is a free base that carries the whole robot."""
        return self.free and i == 0

    def anchored(self, i: int) -> Anchored:
        """Return the subtree of body ``i`` with its point: the body's origin, the centre of mass for a free base.

        A translation of the whole robot has no angular momentum about the latter, whatever the configuration.
        """
        rotation, subtree = self.poses[i].rotation, self.subtrees[i]
        if self.is_base(i):
            point = self.centre_in_base
            return Anchored(Inertia(self.mass, ZERO3, about_centre(subtree, point)), point, ZERO3, rotation)
        return Anchored(subtree, ZERO3, minus(self.poses[i].translation, self.centre), rotation)

    @cached_property
    def centre_in_base(self) -> Vector:
        """Centre of mass of a robot on a free base, in the axes of the base."""
        return scale(self.subtrees[0].moment, self.inverse_mass)


def about_centre(inertia: Inertia, centre: Vector) -> Symmetric:
    """Return the rotational inertia about the centre of mass: ``I - (h.c) 1 + h c^T``."""
    h, s = inertia.moment, inertia.rotational
    along = dot(h, centre)
    return (
        s[0] - along + h[0] * centre[0],
        s[1] + h[0] * centre[1],
        s[2] + h[0] * centre[2],
        s[3] - along + h[1] * centre[1],
        s[4] + h[1] * centre[2],
        s[5] - along + h[2] * centre[2],
    )
