"""Frames whose motion is wanted: known when code is generated, or chosen by numbers while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from grid_core.trace.functions import equal, fabs, less, select
from grid_core.trace.linalg import IDENTITY3, ZERO3, Vector, cross, minus, plus
from grid_core.trace.scalar import Real, Scalar
from grid_core.trace.spatial import Motion, Transform
from grid_plugins.kinematics.skeleton import WORLD, Skeleton, transform_of

if TYPE_CHECKING:
    from grid_core.kernel.builder import KernelBuilder
    from grid_core.model import Frame

IDENTITY = Transform()


class Target:
    """A frame of a skeleton.

    Attributes
    ----------
    pose : Transform
        Its pose in the world, position relative to the anchor.
    anchor : Vector
        World position of the anchor.
    movers : sequence of int
        Bodies whose joints may move the frame.
    """

    pose: Transform
    anchor: Vector
    movers: Sequence[int]

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton

    @property
    def position(self) -> Vector:
        """World position of the frame."""
        return plus(self.anchor, self.pose.translation)

    def share(self, i: int, motion: Motion) -> Motion:
        """Return what a motion of the joint of mover ``i`` is to the frame: the same, or nothing."""
        raise NotImplementedError

    def velocity(self, velocities: Sequence[Motion]) -> Motion:
        """Return the velocity of the frame, that of its origin relative to the anchor's."""
        raise NotImplementedError

    def anchor_velocity(self, qd: Sequence[Real]) -> Vector:
        """Return the velocity of the anchor."""
        raise NotImplementedError

    def jacobian(self, point: Vector) -> list[Motion]:
        """Return the motion that each velocity slot gives to a point of the frame's body, in world axes.

        Parameters
        ----------
        point : Vector
            Relative to the anchor.
        """
        columns = [Motion.zero()] * self.skeleton.model.nv
        for i in self.movers:
            arm = minus(point, self.skeleton.poses[i].translation)
            for slot, motion in self.skeleton.columns[i]:
                columns[slot] = columns[slot] + at_point(self.share(i, motion), arm)
        return columns


class FixedTarget(Target):
    """A frame that is known when code is generated: what does not move it is structurally zero."""

    def __init__(self, skeleton: Skeleton, frame: Frame) -> None:
        super().__init__(skeleton)
        self.name = frame.name
        self.body = frame.body
        placement = transform_of(frame.placement)
        self.pose = placement if self.body == WORLD else skeleton.poses[self.body] @ placement
        self.anchor = skeleton.anchor(self.body)
        self.movers = tuple(reversed(skeleton.model.ancestors(self.body)))

    def share(self, i: int, motion: Motion) -> Motion:  # noqa: ARG002
        return motion

    def velocity(self, velocities: Sequence[Motion]) -> Motion:
        if self.body == WORLD:
            return Motion.zero()
        return at_point(velocities[self.body], minus(self.pose.translation, self.skeleton.poses[self.body].translation))

    def anchor_velocity(self, qd: Sequence[Real]) -> Vector:
        return self.skeleton.anchor_velocity(self.movers[0], qd) if self.movers else ZERO3


def end_effectors(k: KernelBuilder) -> list[FixedTarget]:
    """Return the end effectors of the build at the input ``q``."""
    skeleton = Skeleton(k, k.input("q"))
    return [FixedTarget(skeleton, frame) for frame in k.settings.end_effector_frames(k.model)]


def first_end_effector(k: KernelBuilder, skeleton: Skeleton) -> FixedTarget:
    """Return the first end effector of the build; on a robot that cannot move, its root link."""
    frames = k.settings.end_effector_frames(k.model) or k.model.frames
    return FixedTarget(skeleton, frames[0])


class ChosenTarget(Target):
    """A frame on the body with a given number.

    Parameters
    ----------
    skeleton : Skeleton
    body : Real
        Number of the body, -1 for the world.
    placement : Transform
        Pose of the frame in the body's frame.
    """

    def __init__(self, skeleton: Skeleton, body: Real, placement: Transform = IDENTITY) -> None:
        super().__init__(skeleton)
        self.body = body
        turn = tuple(self._pick(lambda i, r=r: skeleton.poses[i].rotation[r], IDENTITY3[r]) for r in range(3))  # type: ignore[misc]
        self.carrier = Transform(turn, self._pick(lambda i: skeleton.poses[i].translation, ZERO3))
        self.pose = self.carrier @ placement
        self.anchor = self._of_tree(skeleton.anchor)
        self.movers = range(skeleton.model.nb)

    def _pick(self, of_body: Callable[[int], Vector], of_world: Vector) -> Vector:
        """Return what belongs to the chosen body."""
        return self._choose(range(self.skeleton.model.nb), lambda i: equal(self.body, float(i)), of_body, of_world)

    def _of_tree(self, of_root: Callable[[int], Vector]) -> Vector:
        """Return what belongs to the tree of the chosen body, zero for the world."""
        return self._choose(self.skeleton.model.children(WORLD), self._carried_by, of_root, ZERO3)

    def _choose(
        self,
        bodies: Iterable[int],
        here: Callable[[int], Scalar | bool],
        what: Callable[[int], Vector],
        otherwise: Vector,
    ) -> Vector:
        for i in bodies:
            otherwise = tuple(select(here(i), x, y) for x, y in zip(what(i), otherwise))
        return otherwise

    def _carried_by(self, i: int) -> Scalar | bool:
        """Return whether the joint of body ``i`` moves the frame. The bodies it moves have consecutive numbers."""
        last = self.skeleton.model.subtree(i)[-1]
        if last == i:
            return equal(self.body, float(i))
        return less(fabs(self.body - 0.5 * (i + last)), 0.5 * (last - i) + 0.5)

    def share(self, i: int, motion: Motion) -> Motion:
        carried = self._carried_by(i)
        return Motion.of([select(carried, x, 0.0) for x in motion.flat()])

    def velocity(self, velocities: Sequence[Motion]) -> Motion:
        motion = Motion.of(self._pick(lambda i: velocities[i].flat(), Motion.zero().flat()))
        return at_point(motion, minus(self.pose.translation, self.carrier.translation))

    def anchor_velocity(self, qd: Sequence[Real]) -> Vector:
        return self._of_tree(lambda i: self.skeleton.anchor_velocity(i, qd))


def at_point(motion: Motion, arm: Vector) -> Motion:
    """Return a motion with the linear velocity of the point that is ``arm`` away."""
    return Motion(motion.angular, plus(motion.linear, cross(motion.angular, arm)))
