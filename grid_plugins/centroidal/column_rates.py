"""What the derivatives of a regressor are made of: joint columns and bodies in motion, seen from body axes.

Let a coordinate ``k`` move that is above body ``b``. Seen from ``b``, with velocity ``v``, the acceleration field of
``b`` changes by

    along q_k:   psi_ddot_k + 2 psi_dot_k v        along qd_k:   (psi_dot_k + s_dot_k) + 2 s_k v

(products of 4x4 twist matrices; the rates of ``s_k`` as in Singh, Russell and Wensing, "Efficient analytical
derivatives of rigid-body dynamics using spatial vector algebra", 2022), and the motion ``s_i`` of a
coordinate ``i`` turns by ``s_i x s_k`` if ``k`` is nearer to ``b`` than ``i``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder
from grid_core.trace.linalg import ZERO3, Vector, cross, dot, negative, plus, scale, vector
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Transform
from grid_plugins.centroidal.field import Field, spread_of


@dataclass(frozen=True)
class Seen:
    """A joint column seen from a body that it moves.

    Parameters
    ----------
    s : Motion
    turned : Vector
        Angular part of ``psi_dot``.
    accelerated, moving : Motion
        ``psi_ddot`` and ``psi_dot + s_dot``.
    """

    s: Motion
    turned: Vector
    accelerated: Motion
    moving: Motion

    @classmethod
    def of(cls, x: Sequence[Real]) -> Seen:
        return cls(Motion.of(x[:6]), tuple(x[6:9]), Motion.of(x[9:15]), Motion.of(x[15:21]))

    def flat(self) -> Vector:
        return (*self.s.flat(), *self.turned, *self.accelerated.flat(), *self.moving.flat())

    def from_child(self, x: Transform) -> Seen:
        """Return the same column seen from a child of the body, with its pose in the body."""
        turned = x.motion_to_child(Motion(self.turned, ZERO3)).angular
        return Seen(
            x.motion_to_child(self.s), turned, x.motion_to_child(self.accelerated), x.motion_to_child(self.moving)
        )

    def along_position(self, v: Motion) -> Field:
        """Return the change of the acceleration field of a body with velocity ``v`` along ``q_k``."""
        return _changed(self.accelerated, self.turned, v)

    def along_velocity(self, v: Motion) -> Field:
        """Return its change along ``qd_k``."""
        return _changed(self.moving, self.s.angular, v)


def _changed(first: Motion, turn: Vector, v: Motion) -> Field:
    """Return the field ``first + 2 turn v``."""
    twice, w = scale(turn, 2.0), v.angular
    along = dot(twice, w)
    spread = (
        twice[0] * w[0] - along,
        turn[0] * w[1] + w[0] * turn[1],
        turn[0] * w[2] + w[0] * turn[2],
        twice[1] * w[1] - along,
        turn[1] * w[2] + w[1] * turn[2],
        twice[2] * w[2] - along,
    )
    return Field(plus(first.linear, cross(twice, v.linear)), plus(first.angular, cross(turn, w)), spread)


@dataclass(frozen=True)
class MovingBody:
    """A body in motion.

    Parameters
    ----------
    pose : Transform
        In its parent.
    v : Motion
        Velocity, in its own axes.
    field : Field
        Acceleration field, in its own axes.
    columns : tuple of Seen
        The columns of its joint.
    """

    pose: Transform
    v: Motion
    field: Field
    columns: tuple[Seen, ...]


def moving_bodies(
    k: KernelBuilder, q: Sequence[Real], qd: Sequence[Real], qdd: Sequence[Real], gravity: Sequence[Real]
) -> list[MovingBody]:
    """Return every body in motion, with spatial accelerations in between."""
    tree = k.tree
    found: list[MovingBody] = []
    accelerations: list[Motion] = []
    rest = Motion(ZERO3, negative(vector(gravity)))
    for i, parent in enumerate(tree.parents):
        with k.section(f"motion of {k.model.joints[i].name}"):
            pose, own = tree.transform(i, q), tree.joint_motion(i, qd)
            carried = pose.motion_to_child(found[parent].v) if parent >= 0 else Motion.zero()
            lifted = pose.motion_to_child(accelerations[parent] if parent >= 0 else rest)
            v = carried + own
            accelerations.append(lifted + carried.cross_motion(own) + tree.joint_motion(i, qdd))
            alone = len(tree.columns[i]) == 1
            columns = tuple(_seen(s, carried, lifted, v, alone=alone) for _, s in tree.columns[i])
            found.append(MovingBody(pose, v, _field(v, accelerations[i]), columns))
    return found


def _seen(s: Motion, carried: Motion, lifted: Motion, v: Motion, *, alone: bool) -> Seen:
    turned = carried.cross_motion(s)
    accelerated = lifted.cross_motion(s) + carried.cross_motion(turned)
    moving = turned * 2.0 if alone else turned + v.cross_motion(s)
    return Seen(s, turned.angular, accelerated, moving)


def _field(v: Motion, a: Motion) -> Field:
    """Return the acceleration field of a body from spatial velocity and acceleration."""
    return Field(plus(a.linear, cross(v.angular, v.linear)), a.angular, spread_of(v.angular))
