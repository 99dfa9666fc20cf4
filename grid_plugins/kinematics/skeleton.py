"""A robot posed in the world: bodies, the motions that joints allow, and velocities, all in world axes.

Positions are relative to the *anchor* of a tree, the position of its free base (the world's origin where there is
none): what does not depend on where a base is does not lose digits far from the origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grid_core.trace.linalg import ZERO3, Vector, cross, matmul, matrix, matvec, plus, vector
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Transform

if TYPE_CHECKING:
    from grid_core.kernel.builder import KernelBuilder
    from grid_core.model import Placement

WORLD = -1
"""Index of the world where that of a body is expected."""

Columns = tuple[tuple[int, Motion], ...]
"""What a joint adds to the motion of its body: velocity slots, each with the motion per unit of it."""


class Skeleton:
    """A robot at one configuration.

    Attributes
    ----------
    poses : list of Transform
        Per body, its pose in the world, position relative to the anchor.
    arms : list of Vector
        Per body, the way from the origin of its parent (from the anchor for a root) to its own.
    columns : list of Columns
        Per body, the motions of its joint, in world axes at the body's origin.
    """

    def __init__(self, k: KernelBuilder, q: Sequence[Real]) -> None:
        self.model = k.model
        self.tree = k.tree
        self.poses: list[Transform] = []
        self.arms: list[Vector] = []
        self.columns: list[Columns] = []
        self._anchors: dict[int, Vector] = {WORLD: ZERO3}
        for i, joint in enumerate(k.model.joints):
            with k.section(f"pose of {joint.name}"):
                self._place(i, q)

    def _place(self, i: int, q: Sequence[Real]) -> None:
        parent, placement, local = self.tree.parents[i], self.tree.placements[i], self.tree.joint_transform(i, q)
        carrier = Transform() if parent == WORLD else self.poses[parent]
        turned = matmul(carrier.rotation, placement.rotation)
        arm = plus(matvec(carrier.rotation, placement.translation), matvec(turned, local.translation))
        self._anchors[i] = self._anchors[parent]
        if self.is_free_base(i):
            self._anchors[i], arm = arm, ZERO3
        rotation = matmul(turned, local.rotation)
        self.poses.append(Transform(rotation, plus(carrier.translation, arm)))
        self.arms.append(arm)
        self.columns.append(
            tuple(
                (slot, Motion(matvec(rotation, s.angular), matvec(rotation, s.linear)))
                for slot, s in self.tree.columns[i]
            )
        )

    def is_free_base(self, i: int) -> bool:
        """Return whether body ``i`` carries the anchor of its tree."""
        return self.tree.parents[i] == WORLD and self.model.joints[i].kind == "floating"

    def anchor(self, body: int) -> Vector:
        """Return the world position of the anchor of a body's tree."""
        return self._anchors[body]

    def velocities(self, qd: Sequence[Real]) -> list[Motion]:
        """Return per body its velocity in world axes, that of its origin relative to the anchor's."""
        found: list[Motion] = []
        for i, parent in enumerate(self.tree.parents):
            carrier = Motion.zero() if parent == WORLD else found[parent]
            total = Motion(carrier.angular, plus(carrier.linear, cross(carrier.angular, self.arms[i])))
            for slot, motion in self.columns[i]:
                total = total + motion * qd[slot]
            found.append(Motion(total.angular, ZERO3) if self.is_free_base(i) else total)
        return found

    def anchor_velocity(self, root: int, qd: Sequence[Real]) -> Vector:
        """Return the velocity of the anchor of a tree."""
        total = Motion.zero()
        if self.is_free_base(root):
            for slot, motion in self.columns[root]:
                total = total + motion * qd[slot]
        return total.linear


def transform_of(placement: Placement) -> Transform:
    """Return a placement of the model as a transform of constants."""
    return Transform(matrix(placement.rotation), vector(placement.translation))
