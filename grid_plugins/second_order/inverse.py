"""Second derivatives of inverse dynamics as straight-line code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.ground import Ground, ground_motion
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.autodiff import jvp
from grid_core.trace.scalar import Real, Scalar
from grid_core.trace.spatial import Force
from grid_plugins.second_order.signature import CUBE, F_EXT, GRAVITY, QD, QDD, Q
from grid_plugins.second_order.terms import Inward, Moved, Pair, cross_of_a, cross_of_b, second_of_a, second_of_b

Cube = list[list[list[Real]]]


@dataclass(frozen=True)
class Coordinate:
    """A column of a joint: its body, its number there, its velocity slot and what it moves."""

    body: int
    index: int
    slot: int
    moved: Moved


@dataclass
class Tensors:
    """The four results, entries ``[i][j][k]``."""

    positions: Cube
    velocities: Cube
    cross: Cube
    mass: Cube

    @classmethod
    def zero(cls, nv: int) -> Tensors:
        def cube() -> Cube:
            return [[[0.0] * nv for _ in range(nv)] for _ in range(nv)]

        return cls(cube(), cube(), cube(), cube())


Place = tuple[Coordinate, Coordinate, Coordinate]


def add(cube: Cube, value: Real, *places: Place) -> None:
    """Add a value at several places; coordinates that follow another joint share the slot of its."""
    for i, j, k in places:
        row = cube[i.slot][j.slot]
        row[k.slot] = row[k.slot] + value


def both_orders(a: Coordinate, b: Coordinate, c: Coordinate) -> list[Place]:
    """Return where a value symmetric in two coordinates of one joint goes, once for both orders."""
    if b.index < c.index:
        return []
    return [(a, b, c)] if b is c else [(a, b, c), (a, c, b)]


def coordinates(ground: Ground) -> list[list[Coordinate]]:
    """Return the coordinates of every joint."""
    return [
        [Coordinate(i, n, column.slot, Moved.of(column, ground.composites[i])) for n, column in enumerate(columns)]
        for i, columns in enumerate(ground.columns)
    ]


class Unrolled:
    """Fills the tensors of one robot, pair by pair."""

    def __init__(self, k: KernelBuilder, ground: Ground) -> None:
        self.joints = coordinates(ground)
        self.ground = ground
        self.tensors = Tensors.zero(k.model.nv)
        for i in reversed(range(k.model.nb)):
            with k.section(k.model.joints[i].name):
                for a in self.joints[i]:
                    for b in (*self.joints[i], *self.nearer(i)):
                        self.fill(a, b)

    def nearer(self, i: int) -> Iterator[Coordinate]:
        """Yield the coordinates of the joints between joint ``i`` and the root."""
        for j in self.ground.ancestors(i):
            yield from self.joints[j]

    def fill(self, a: Coordinate, b: Coordinate) -> None:
        pair = Pair.of(a.moved, b.moved)
        difference = pair.turned - pair.rate
        for c in self.joints[b.body]:
            self.fill_same_joint(pair, difference, a, b, c)
        nearer = list(self.nearer(b.body))
        for c in nearer:
            self.fill_deepest(pair, difference, a, b, c)
        if b.body != a.body:
            for c in (*self.joints[b.body], *nearer):
                self.fill_middle(pair, difference, a, b, c)
        if nearer:
            self.fill_nearest(pair, a, b, nearer)

    def fill_same_joint(self, pair: Pair, difference: Force, a: Coordinate, b: Coordinate, c: Coordinate) -> None:
        """Fill the force of ``a`` for two coordinates of one joint."""
        t = self.tensors
        add(t.positions, second_of_a(pair, c.moved), (a, b, c))
        add(t.velocities, -c.moved.s.power(pair.rate), *both_orders(a, b, c))
        add(t.cross, c.moved.turned.power(difference), (a, b, c))

    def fill_deepest(self, pair: Pair, difference: Force, a: Coordinate, b: Coordinate, c: Coordinate) -> None:
        """Fill the force of ``a`` for ``c`` nearer to the root than ``b``."""
        t = self.tensors
        add(t.positions, second_of_a(pair, c.moved), (a, b, c), (a, c, b))
        add(t.velocities, c.moved.s.power(difference), (a, b, c), (a, c, b))
        add(t.cross, c.moved.turned.power(difference), (a, b, c))
        add(t.cross, cross_of_a(pair, c.moved), (a, c, b))
        add(t.mass, c.moved.s.power(pair.turned), (a, c, b))

    def fill_middle(self, pair: Pair, difference: Force, a: Coordinate, b: Coordinate, c: Coordinate) -> None:
        """Fill the force of ``b``, nearer to the root than ``a``."""
        t = self.tensors
        add(t.positions, second_of_b(pair, c.moved), (b, a, c), (b, c, a))
        add(t.velocities, -c.moved.s.power(difference), (b, a, c), (b, c, a))
        add(t.cross, -c.moved.turned.power(difference), (b, a, c))
        add(t.cross, cross_of_b(pair, c.moved), (b, c, a))
        places = [(b, c, a)] if c.body != b.body else [(j, k, i) for i, j, k in both_orders(a, b, c)]
        add(t.mass, c.moved.s.power(pair.rate), *places)

    def fill_nearest(self, pair: Pair, a: Coordinate, b: Coordinate, nearer: list[Coordinate]) -> None:
        """Fill the forces of coordinates nearer to the root than both."""
        t, inward = self.tensors, Inward.of(a.moved, b.moved)
        apart = b.body != a.body
        back = pair.rate if apart else a.moved.s.cross_force(b.moved.force)
        for c in nearer:
            s = c.moved.s
            add(t.positions, s.power(inward.positions), (c, a, b), *([(c, b, a)] if apart else []))
            add(t.velocities, s.power(pair.turned + back), (c, a, b), *([(c, b, a)] if apart else []))
            add(t.cross, s.power(inward.velocity_a), (c, a, b))
            add(t.mass, s.power(pair.turned), (c, a, b))
            if apart:
                add(t.cross, s.power(inward.velocity_b), (c, b, a))
                add(t.mass, s.power(pair.rate), (c, b, a))


def friction_curvature(k: KernelBuilder, qd: list[Real]) -> list[Real]:
    """Return the second derivative of the torque that joint friction takes, along each rate."""
    _, slopes = k.tree.joint_friction(qd)
    return [jvp([slope], {v: 1.0})[0] if isinstance(v, Scalar) else 0.0 for slope, v in zip(slopes, qd)]


def emit_idsva_so(k: KernelBuilder) -> None:
    q, qd, qdd, gravity = (k.input(name) for name in ("q", "qd", "qdd", "gravity"))
    ground = ground_motion(k, q, qd, qdd, gravity, k.input("f_ext") if k.has("f_ext") else None)
    with k.section("second derivatives"):
        t = Unrolled(k, ground).tensors
    for slot, curvature in enumerate(friction_curvature(k, qd)):
        t.velocities[slot][slot][slot] = t.velocities[slot][slot][slot] + curvature
    k.output("d2tau_dq", t.positions)
    k.output("d2tau_dqd", t.velocities)
    k.output("d2tau_cross", t.cross)
    k.output("dM_dq", t.mass)


ALGORITHMS = (
    Algorithm(
        name="idsva_so",
        family="second_order",
        summary="Second derivatives of inverse dynamics, and the derivative of the mass matrix.",
        inputs=(Q, QD, QDD, GRAVITY, F_EXT),
        outputs=(
            Output("d2tau_dq", CUBE, "[i, j, k]: derivative along direction k of d tau_i / d q_j"),
            Output("d2tau_dqd", CUBE, "[i, j, k]: d2 tau_i / d qd_j d qd_k"),
            Output("d2tau_cross", CUBE, "[i, j, k]: d2 tau_i / d qd_j d q_k"),
            Output("dM_dq", CUBE, "[i, j, k]: d M_ij / d q_k"),
        ),
        emit=emit_idsva_so,
        profiles=("dynamics", "second-order"),
        result="SecondOrderID",
        notes="Directions of a floating base or a spherical joint do not commute: d2tau_dq is symmetric in j and k "
        "only where they belong to different joints. f_ext is held constant in body axes. With joint dynamics, the "
        "curvature of tanh friction is on the diagonal of d2tau_dqd.",
        source="Singh, Russell and Wensing, On second-order derivatives of rigid-body dynamics, 2023",
    ),
)
