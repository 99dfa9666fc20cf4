"""Second derivatives of inverse dynamics, one pair and one triple of joint coordinates at a time.

Singh, Russell and Wensing, "On second-order derivatives of rigid-body dynamics: theory and implementation" (2023), with
the structure of its 6x6 matrices used: every one is either a rate of an inertia, nine numbers, or a factor
:class:`~grid_core.kernel.ground.Coriolis`, twelve numbers.

Three coordinates ``a``, ``b``, ``c`` on one branch, ``c`` nearest to the root, share six entries of each tensor. The
deepest one decides which subtree moves; what it makes of ``b`` are the vectors of :class:`Pair` and :class:`Inward`,
and an entry is the product of one or two of them with columns of ``c``. Derivatives of what moves with the robot are
written as ``D = d/dq_k - s_k x``, which vanishes for inertias, so that with ``psi_dot = v_parent x s`` and
``psi_ddot = a_parent x s + v_parent x psi_dot``

    D_k psi_dot_j = psi_dot_k x s_j        D_k psi_ddot_j = psi_ddot_k x s_j + 2 psi_dot_k x psi_dot_j
    D_k B = Coriolis(I, psi_dot_k)         D_k F = I psi_ddot_k + B psi_dot_k

for ``k`` on the same joint as ``j`` or nearer to the root.
"""

from __future__ import annotations

from dataclasses import dataclass

from grid_core.kernel.ground import Column, Composite, Coriolis, inertia_rate
from grid_core.trace.linalg import Vector, cross, dot, plus
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Inertia, Motion


@dataclass(frozen=True)
class Moved:
    """What a coordinate ``a`` does to the subtree that it moves."""

    s: Motion
    turned: Motion
    accelerated: Motion
    moving: Motion
    force: Force
    """``I s``"""
    drag: Vector
    """The angular part of ``B^T s``; the linear one is zero."""
    rate: Inertia
    """``s x* I - I s x``"""
    coriolis: Coriolis
    """``s x* B - B s x`` and the factor of the motion ``psi_dot``."""
    by_position: Force
    """``d F / d q``: ``s x* F + I psi_ddot + B psi_dot``"""
    by_velocity: Force
    """``d F / d qd``: ``B s + I (psi_dot + s_dot)``"""

    @classmethod
    def of(cls, column: Column, subtree: Composite) -> Moved:
        s, turned, inertia, b = column.s, column.turned, subtree.inertia, subtree.coriolis
        return cls(
            s,
            turned,
            column.accelerated,
            column.moving,
            inertia * s,
            b.transposed(s),
            inertia_rate(inertia, s),
            b.carried(s) + Coriolis.of(inertia, turned),
            s.cross_force(subtree.force) + inertia * column.accelerated + b * turned,
            b * s + inertia * column.moving,
        )

    @property
    def own(self) -> Coriolis:
        """The factor ``B`` of the subtree if it moved with ``s``."""
        return Coriolis(self.rate.rotational, self.force)


@dataclass(frozen=True)
class Pair:
    """What a coordinate ``a`` makes of a coordinate ``b`` on the same joint or nearer to the root."""

    turned: Force
    """``s_b x* I s_a``: with ``s_c`` it is ``d M_ac / d q_b``."""
    rate: Force
    """``(s_a x* I - I s_a x) s_b``: with ``s_c`` it is ``d M_bc / d q_a``."""
    held: Force
    """With ``psi_dot_c``, and ``turned`` with ``psi_ddot_c``, it is ``d2 tau_a / d q_b d q_c``."""
    passed: Vector
    """With the angular ``psi_dot_c``, and ``rate`` with ``psi_ddot_c``, it is ``d2 tau_b / d q_a d q_c``."""

    @classmethod
    def of(cls, a: Moved, b: Moved) -> Pair:
        held = b.turned.cross_force(a.force) - a.rate * b.turned
        return cls(
            b.s.cross_force(a.force),
            a.rate * b.s,
            Force(plus(held.angular, cross(b.s.angular, a.drag)), held.linear),
            a.coriolis.transposed(b.s),
        )


@dataclass(frozen=True)
class Inward:
    """What the pair ``a``, ``b`` sends to the coordinates ``c`` of joints nearer to the root: with ``s_c`` it is ..."""

    positions: Force
    """... ``d2 tau_c / d q_a d q_b``,"""
    velocity_a: Force
    """... ``d2 tau_c / d qd_a d q_b``,"""
    velocity_b: Force
    """... ``d2 tau_c / d qd_b d q_a`` of another joint than that of ``a``."""

    @classmethod
    def of(cls, a: Moved, b: Moved) -> Inward:
        return cls(
            b.s.cross_force(a.by_position) + a.rate * b.accelerated + a.coriolis * b.turned,
            b.s.cross_force(a.by_velocity) + a.own * b.turned,
            a.rate * b.moving + a.coriolis * b.s,
        )


def second_of_a(pair: Pair, c: Moved) -> Real:
    """Return ``d2 tau_a / d q_b d q_c``."""
    return c.accelerated.power(pair.turned) + c.turned.power(pair.held)


def second_of_b(pair: Pair, c: Moved) -> Real:
    """Return ``d2 tau_b / d q_a d q_c``, ``b`` nearer to the root than ``a``."""
    return c.accelerated.power(pair.rate) + dot(c.turned.angular, pair.passed)


def cross_of_a(pair: Pair, c: Moved) -> Real:
    """Return ``d2 tau_a / d qd_c d q_b``, ``c`` nearer to the root than ``b``."""
    return c.moving.power(pair.turned) + c.s.power(pair.held)


def cross_of_b(pair: Pair, c: Moved) -> Real:
    """Return ``d2 tau_b / d qd_c d q_a``, ``b`` nearer to the root than ``a``."""
    return c.moving.power(pair.rate) + dot(c.s.angular, pair.passed)
