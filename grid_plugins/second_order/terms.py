"""Second derivatives of inverse dynamics, one pair and one triple of joint coordinates at a time.

Singh, Russell and Wensing, "On second-order derivatives of rigid-body dynamics: theory and implementation" (2023), with
the structure of its 6x6 matrices used: every one is either a rate of an inertia, nine numbers, or a factor
:class:`~grid_core.kernel.ground.Coriolis`, twelve numbers.

Three coordinates ``a``, ``b``, ``c`` on one branch, ``c`` nearest to the root, share six entries of each tensor. The
deepest one decides which subtree moves; what it makes of ``b`` are the vectors of :class:`Pair`, and an entry is the
product of one or two of them with columns of ``c``. Derivatives of what moves with the robot are written as
``D = d/dq_k - s_k x``, which vanishes for inertias, so that with ``psi_dot = v_parent x s`` and
``psi_ddot = a_parent x s + v_parent x psi_dot``

    D_k psi_dot_j = psi_dot_k x s_j        D_k psi_ddot_j = psi_ddot_k x s_j + 2 psi_dot_k x psi_dot_j
    D_k B = Coriolis(I, psi_dot_k)         D_k F = I psi_ddot_k + B psi_dot_k

for ``k`` on the same joint as ``j`` or nearer to the root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

from grid_core.kernel.ground import Column, Composite, Coriolis, inertia_rate
from grid_core.trace.linalg import Vector, cross, dot, plus
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Inertia, Motion


@dataclass(frozen=True)
class Moved:
    """What a coordinate ``a`` does to the subtree that it moves."""

    s: Motion
    turned: Motion
    """``psi_dot``"""
    accelerated: Motion
    """``psi_ddot``"""
    moving: Motion | None
    """``psi_dot + s_dot``; twice ``psi_dot`` if there is none, as on every joint with one coordinate."""
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
    def of(cls, column: Column, subtree: Composite, width: int) -> Moved:
        s, turned, inertia, b = column.s, column.turned, subtree.inertia, subtree.coriolis
        return cls(
            s,
            turned,
            column.accelerated,
            column.moving if width > 1 else None,
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

    def flat(self) -> list[Real]:
        """Return all numbers, in the order that :meth:`read` expects."""
        motions = (self.s, self.turned, self.accelerated, self.force, self.by_position, self.by_velocity)
        rate, factor = self.rate, self.coriolis
        factors = (*rate.moment, *rate.rotational, *factor.rate, *factor.momentum.flat())
        moving = self.moving.flat() if self.moving is not None else ()
        return [*(x for motion in motions for x in motion.flat()), *self.drag, *factors, *moving]

    @classmethod
    def read(cls, number: Callable[[int], Real], single: bool) -> Moved:
        """Return the coordinate whose numbers a function gives one by one."""
        x = tuple(map(number, range(60 if single else 66)))
        s, turned, accelerated = (Motion.of(x[6 * n : 6 * n + 6]) for n in range(3))
        force, by_position, by_velocity = (Force.of(x[6 * n : 6 * n + 6]) for n in range(3, 6))
        rate = Inertia(0.0, x[39:42], x[42:48])  # type: ignore[arg-type]
        factor = Coriolis(x[48:54], Force.of(x[54:60]))  # type: ignore[arg-type]
        moving = None if single else Motion.of(x[60:])
        return cls(s, turned, accelerated, moving, force, x[36:39], rate, factor, by_position, by_velocity)

    def moving_power(self, of_turned: Real, force: Force) -> Real:
        """Return the product of ``moving`` with a force, given that of ``turned``."""
        return 2.0 * of_turned if self.moving is None else self.moving.power(force)


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
    positions: Force
    """With ``s_c`` of a joint nearer to the root it is ``d2 tau_c / d q_a d q_b``."""
    velocity_a: Force
    """With ``s_c`` of a joint nearer to the root it is ``d2 tau_c / d qd_a d q_b``."""
    back: Force
    """The same for ``d2 tau_c / d qd_b d q_a``, or ``turned`` of ``b`` and ``a`` if they are on one joint."""

    SIZE = 39

    @classmethod
    def of(cls, a: Moved, b: Moved, where: Relation) -> Pair:
        rate_of_turned = a.rate * b.turned
        held = b.turned.cross_force(a.force) - rate_of_turned
        if where is Relation.NEARER:
            rate_of_moving = rate_of_turned * 2.0 if b.moving is None else a.rate * b.moving
            back = rate_of_moving + a.coriolis * b.s
        else:
            back = a.s.cross_force(b.force)
        return cls(
            b.s.cross_force(a.force),
            a.rate * b.s,
            Force(plus(held.angular, cross(b.s.angular, a.drag)), held.linear),
            a.coriolis.transposed(b.s),
            b.s.cross_force(a.by_position) + a.rate * b.accelerated + a.coriolis * b.turned,
            b.s.cross_force(a.by_velocity) + a.own * b.turned,
            back,
        )

    def flat(self) -> list[Real]:
        """Return all numbers, in the order that :meth:`read` expects."""
        forces = (self.turned, self.rate, self.held, self.positions, self.velocity_a, self.back)
        return [*(x for force in forces for x in force.flat()), *self.passed]

    @classmethod
    def read(cls, number: Callable[[int], Real]) -> Pair:
        """Return the pair whose numbers a function gives one by one."""
        x = tuple(map(number, range(cls.SIZE)))
        turned, rate, held, positions, velocity_a, back = (Force.of(x[6 * n : 6 * n + 6]) for n in range(6))
        return cls(turned, rate, held, x[36:39], positions, velocity_a, back)


class Relation(Enum):
    """Where a coordinate is, seen from one on the same joint or further from the root."""

    NEARER = auto()
    """On a joint nearer to the root."""
    BEFORE = auto()
    ITSELF = auto()
    AFTER = auto()


class Tensor(Enum):
    """The results, by what is differentiated."""

    POSITIONS = "d2tau_dq"
    VELOCITIES = "d2tau_dqd"
    CROSS = "d2tau_cross"
    MASS = "dM_dq"


@dataclass(frozen=True)
class Member:
    """A coordinate in a triple: what it moves, and where its entries are."""

    slot: Any
    moved: Moved


class Add(Protocol):
    """Adds a value to entries of a tensor."""

    def __call__(self, tensor: Tensor, value: Real, /, *places: Sequence[Member]) -> None: ...


def fill(add: Add, pair: Pair, triple: Iterable[Member], b_of_a: Relation, c_of_b: Relation) -> None:
    """Add what a triple shares to the four tensors."""
    a, b, c = triple
    fill_deepest(add, pair, a, b, c, c_of_b)
    if b_of_a is Relation.NEARER:
        fill_middle(add, pair, a, b, c, c_of_b)
    if c_of_b is Relation.NEARER:
        fill_nearest(add, pair, a, b, c, b_of_a)


def fill_deepest(add: Add, pair: Pair, a: Member, b: Member, c: Member, c_of_b: Relation) -> None:
    """Add to the force of ``a``."""
    s, turned = c.moved.s, c.moved.turned
    of_turned = turned.power(pair.turned)
    second = c.moved.accelerated.power(pair.turned) + turned.power(pair.held)
    add(Tensor.CROSS, of_turned - turned.power(pair.rate), (a, b, c))
    if c_of_b is Relation.NEARER:
        mass = s.power(pair.turned)
        add(Tensor.POSITIONS, second, (a, b, c), (a, c, b))
        add(Tensor.VELOCITIES, mass - s.power(pair.rate), (a, b, c), (a, c, b))
        add(Tensor.CROSS, c.moved.moving_power(of_turned, pair.turned) + s.power(pair.held), (a, c, b))
        add(Tensor.MASS, mass, (a, c, b), (c, a, b))
        return
    add(Tensor.POSITIONS, second, (a, b, c))
    if c_of_b is not Relation.AFTER:
        both = ((a, b, c), (a, c, b))
        add(Tensor.VELOCITIES, -s.power(pair.rate), *both[: 1 + (c_of_b is Relation.BEFORE)])


def fill_middle(add: Add, pair: Pair, a: Member, b: Member, c: Member, c_of_b: Relation) -> None:
    """Add to the force of ``b``, nearer to the root than ``a``."""
    s, turned = c.moved.s, c.moved.turned
    of_turned, mass = turned.power(pair.rate), s.power(pair.rate)
    second = c.moved.accelerated.power(pair.rate) + dot(turned.angular, pair.passed)
    add(Tensor.POSITIONS, second, (b, a, c), (b, c, a))
    add(Tensor.VELOCITIES, mass - s.power(pair.turned), (b, a, c), (b, c, a))
    add(Tensor.CROSS, of_turned - turned.power(pair.turned), (b, a, c))
    add(Tensor.CROSS, c.moved.moving_power(of_turned, pair.rate) + dot(s.angular, pair.passed), (b, c, a))
    if c_of_b is not Relation.AFTER:
        both = ((b, c, a), (c, b, a))
        add(Tensor.MASS, mass, *both[: 1 + (c_of_b is not Relation.ITSELF)])


def fill_nearest(add: Add, pair: Pair, a: Member, b: Member, c: Member, b_of_a: Relation) -> None:
    """Add to the force of ``c``, nearer to the root than ``a`` and ``b``."""
    s, apart = c.moved.s, b_of_a is Relation.NEARER
    both = ((c, a, b), (c, b, a))[: 1 + apart]
    add(Tensor.POSITIONS, s.power(pair.positions), *both)
    add(Tensor.VELOCITIES, s.power(pair.turned) + s.power(pair.rate if apart else pair.back), *both)
    add(Tensor.CROSS, s.power(pair.velocity_a), (c, a, b))
    if apart:
        add(Tensor.CROSS, s.power(pair.back), (c, b, a))
