"""A moving robot in one ground frame: what first and second derivatives of inverse dynamics are made of.

The recursion of Singh, Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial
vector algebra" (2022). The ground frame is the world for a fixed base and the base body itself for a floating one, so
that results do not degrade far from the world's origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tree import TracedTree
from grid_core.trace.linalg import (
    ZERO3,
    Vector,
    cross,
    dot,
    matmul,
    matvec,
    minus,
    negative,
    plus,
    scale,
    skew,
    transpose,
    vector,
)
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Inertia, Motion, Symmetric, Transform, dense, symmetric

T = TypeVar("T")


@dataclass(frozen=True)
class Column:
    """A column ``s`` of a joint's motion subspace in the ground frame with the rates that the recursion needs."""

    slot: int
    s: Motion
    turned: Motion
    """``psi_dot = v_parent x s``"""
    accelerated: Motion
    """``psi_ddot = a_parent x s + v_parent x psi_dot``"""
    moving: Motion
    """``psi_dot + s_dot`` with ``s_dot = v x s``"""


@dataclass(frozen=True)
class Coriolis:
    """The factor ``B`` of a body or subtree: ``B m`` is its velocity-dependent force per unit of motion ``m``.

    With the rate of change ``R`` of the rotational inertia, linear momentum ``p`` and angular momentum ``l``

        B [w; v] = [ R w - l x w ; -2 p x w ]

    so that twelve numbers are accumulated instead of eighteen.
    """

    rate: Symmetric
    momentum: Force

    @classmethod
    def of(cls, inertia: Inertia, v: Motion) -> Coriolis:
        return cls(moment_rate(inertia.moment, inertia.rotational, v), inertia * v)

    def __add__(self, other: Coriolis) -> Coriolis:
        return Coriolis(plus(self.rate, other.rate), self.momentum + other.momentum)  # type: ignore[arg-type]

    def __mul__(self, m: Motion) -> Force:
        angular = minus(matvec(dense(self.rate), m.angular), cross(self.momentum.angular, m.angular))
        return Force(angular, scale(cross(self.momentum.linear, m.angular), -2.0))

    def transposed(self, m: Motion) -> Vector:
        """Return the angular part of ``B^T m``; its linear part is zero."""
        angular = plus(matvec(dense(self.rate), m.angular), cross(self.momentum.angular, m.angular))
        return plus(angular, scale(cross(self.momentum.linear, m.linear), 2.0))

    def carried(self, v: Motion) -> Coriolis:
        """Return how the factor changes if its body moves with ``v`` and keeps its own velocity: ``v x* B - B v x``."""
        return Coriolis(moment_rate(self.momentum.linear, self.rate, v), v.cross_force(self.momentum))


@dataclass(frozen=True)
class Composite:
    """A subtree in the ground frame: inertia, ``B`` and the total force."""

    inertia: Inertia
    coriolis: Coriolis
    force: Force

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.inertia + other.inertia, self.coriolis + other.coriolis, self.force + other.force)


@dataclass
class Ground:
    """A robot in motion, everything expressed in the ground frame."""

    tree: TracedTree
    columns: list[tuple[Column, ...]]
    velocities: list[Motion]
    composites: list[Composite]

    def ancestors(self, i: int) -> Iterator[int]:
        """Yield the strict ancestors of body ``i``."""
        while (i := self.tree.parents[i]) >= 0:
            yield i


def ground_motion(
    k: KernelBuilder,
    q: Sequence[Real],
    qd: Sequence[Real],
    qdd: Sequence[Real],
    gravity: Sequence[Real],
    f_ext: Sequence[Real] | None,
) -> Ground:
    """Run the outward pass and accumulate subtrees."""
    tree = k.tree
    with k.section("joint transforms"):
        local = _each_body(k, lambda i: tree.transform(i, q))
    poses, columns, velocities, accelerations = _outward(k, local, qd, qdd, gravity)
    with k.section("bodies in the ground frame"):
        composites = _each_body(k, lambda i: _body(tree, i, poses[i], velocities[i], accelerations[i], f_ext))
    with k.section("subtrees"):
        for i in reversed(range(k.model.nb)):
            if tree.parents[i] >= 0:
                composites[tree.parents[i]] = composites[tree.parents[i]] + composites[i]
    return Ground(tree, columns, velocities, composites)


def _each_body(k: KernelBuilder, make: Callable[[int], T]) -> list[T]:
    """Make something of every body, labelled with its joint."""
    made = []
    for i, joint in enumerate(k.model.joints):
        with k.section(joint.name):
            made.append(make(i))
    return made


def _outward(
    k: KernelBuilder, local: list[Transform], qd: Sequence[Real], qdd: Sequence[Real], gravity: Sequence[Real]
) -> tuple[list[Transform], list[tuple[Column, ...]], list[Motion], list[Motion]]:
    """Return per body its pose, joint columns, velocity and acceleration (gravity included) in the ground frame."""
    tree = k.tree
    base_is_ground = tree.parents.count(-1) == 1 and k.model.joints[0].kind == "floating"
    lift = negative(vector(gravity))
    if base_is_ground:
        lift = matvec(transpose(local[0].rotation), lift)
        local = [Transform(), *local[1:]]
    poses: list[Transform] = []
    columns: list[tuple[Column, ...]] = []
    velocities: list[Motion] = []
    accelerations: list[Motion] = []
    with k.section("motion from the root outwards"):
        for i, parent in enumerate(tree.parents):
            v, a = (velocities[parent], accelerations[parent]) if parent >= 0 else (Motion.zero(), Motion(ZERO3, lift))
            poses.append(poses[parent] @ local[i] if parent >= 0 else local[i])
            own = [(slot, poses[i].motion_to_parent(column)) for slot, column in tree.columns[i]]
            rate = sum((s * qd[slot] for slot, s in own), Motion.zero())
            change = sum((s * qdd[slot] for slot, s in own), Motion.zero())
            columns.append(tuple(_column(slot, s, v, a, v + rate, len(own)) for slot, s in own))
            velocities.append(v + rate)
            accelerations.append(a + v.cross_motion(rate) + change)
    return poses, columns, velocities, accelerations


def _column(slot: int, s: Motion, v_parent: Motion, a_parent: Motion, v: Motion, width: int) -> Column:
    turned = v_parent.cross_motion(s)
    accelerated = a_parent.cross_motion(s) + v_parent.cross_motion(turned)
    moving = turned * 2.0 if width == 1 else turned + v.cross_motion(s)
    return Column(slot, s, turned, accelerated, moving)


def _body(tree: TracedTree, i: int, pose: Transform, v: Motion, a: Motion, f_ext: Sequence[Real] | None) -> Composite:
    inertia = tree.lumped_inertias[i].to_parent(pose)
    coriolis = Coriolis.of(inertia, v)
    force = inertia * a + v.cross_force(coriolis.momentum)
    if f_ext is not None:
        force = force - pose.force_to_parent(Force.of(f_ext[6 * i : 6 * i + 6]))
    return Composite(inertia, coriolis, force)


def moment_rate(first: Vector, second: Symmetric, v: Motion) -> Symmetric:
    """Return the rate of a second moment about the ground's fixed origin, for mass that moves with ``v``.

    Parameters
    ----------
    first, second : tuple
        First moment and second moment as rotational inertia.
    """
    turning = matmul(skew(v.angular), dense(second))
    trace = 2.0 * dot(v.linear, first)
    rate = [
        [
            turning[r][c]
            + turning[c][r]
            - (first[r] * v.linear[c] + first[c] * v.linear[r])
            + (trace if r == c else 0.0)
            for c in range(3)
        ]
        for r in range(3)
    ]
    return symmetric(tuple(map(tuple, rate)))


def inertia_rate(inertia: Inertia, v: Motion) -> Inertia:
    """Return the rate of an inertia that moves with ``v``: ``v x* I - I v x``."""
    moment = plus(cross(v.angular, inertia.moment), scale(v.linear, inertia.mass))
    return Inertia(0.0, moment, moment_rate(inertia.moment, inertia.rotational, v))
