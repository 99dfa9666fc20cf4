"""The moving-gradient sensitivity of one step: how its derivative changes along every direction of its input.

With the fields of directions that move with their configuration, derivatives of derivatives follow the chain rule: of
``y(x(z))`` with the first derivatives ``Y`` and ``X`` and their changes ``Y_c`` along a column ``c``

    H[o, a, b] = sum_cd Y_c[o, d] X[c, a] X[d, b] + sum_d Y[o, d] X_a[d, b].

The stages are gone through forwards. Everything with three axes is computed by loops over arrays of the workspace,
whose code does not grow with the number of coordinates as the results do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from grid_core.kernel.builder import KernelBuilder, Row, Slots, Workspace
from grid_core.kernel.manifold import integrate_jacobians, rotational_blocks
from grid_core.plugins.algorithm import Algorithm
from grid_core.trace.autodiff import jvp
from grid_core.trace.linalg import Matrix, dot
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.integrators.rows import flat
from grid_plugins.integrators.schemes import SCHEMES, Scheme
from grid_plugins.integrators.signature import F_EXT_SHARED, HESSIAN, STEP, choice
from grid_plugins.integrators.step import Stage, Values, increment, stages_of

COVERED = tuple(scheme for scheme in SCHEMES if not scheme.on_group)
"""The schemes that this is for."""

Terms = Sequence[tuple[Real, Workspace]]
"""A sum of arrays with factors."""


@dataclass(frozen=True)
class Order:
    """First and second derivatives along ``z = (q, v, u)``, of ``n`` entries: sums of arrays with factors.

    An array of first derivatives holds ``[entry, b]``, one of second derivatives ``[entry, a, b]``.
    """

    first: Terms
    second: Terms

    def scaled(self, factor: Real) -> Order:
        return Order(
            [(factor * weight, array) for weight, array in self.first],
            [(factor * weight, array) for weight, array in self.second],
        )

    def plus(self, other: Order) -> Order:
        return Order([*self.first, *other.first], [*self.second, *other.second])


class Sensitivity:
    """The derivatives of the stages of a step along ``m = 3 n`` directions."""

    def __init__(self, k: KernelBuilder) -> None:
        self.k, self.n, self.m = k, k.model.nv, 3 * k.model.nv
        self.blocks = rotational_blocks(k.model)
        turning = {j for first, size in self.blocks for j in range(first, first + size)}
        self.still = [j for j in range(self.n) if j not in turning]
        self.held = {name: k.input(name) for name in ("u", "gravity", "f_ext") if k.has(name)}

    def velocities(self) -> Order:
        """Return the derivatives of the velocity at the beginning, which is part of the input."""
        n, m = self.n, self.m
        found = self.k.array("velocity", [None] * (n * m))
        self.k.loop([(j * m,) for j in range(n)], partial(self._copy, (), found))
        self.k.loop([(j * m + n + j,) for j in range(n)], lambda row: row.store(found, 0, 1.0))
        return Order([(1.0, found)], [])

    def once(self, terms: Terms, row: Row, column: int, offset: int) -> Real:
        """Return an entry of a sum of arrays."""
        return sum((weight * row.load(array, column, offset) for weight, array in terms), 0.0)

    def at(self, entry: int, a: int = 0, b: int = 0) -> int:
        """Return the place of a second derivative."""
        return (entry * self.m + a) * self.m + b

    def retracted(self, step: Values, moved: Order) -> Order:
        """Return the derivatives of ``q (+) w`` from those of ``w``."""
        k, n, m = self.k, self.n, self.m
        first, second = k.array("first", [None] * (n * m)), k.array("second", [None] * (n * m * m))
        k.loop([(j * m,) for j in self.still], partial(self._copy, moved.first, first))
        k.loop([(j * m + j,) for j in self.still], lambda row: row.accumulate(first, 0, 1.0))
        k.loop([(self.at(j, a),) for j in self.still for a in range(m)], partial(self._copy, moved.second, second))
        kept = list(step)
        for at, size in self.blocks:
            kept[at : at + size] = k.array("step", kept[at : at + size]).values()
        by_q, by_w = integrate_jacobians(k.model, kept)
        for at, size in self.blocks:
            turn = Turn(at, kept[at : at + size], by_q.blocks[at], by_w.blocks[at])
            self._turn_once(turn, moved, first)
            self._turn_twice(turn, moved, second)
        return Order([(1.0, first)], [(1.0, second)] if moved.second or self.blocks else [])

    def _copy(self, terms: Terms, target: Workspace, row: Row) -> None:
        for b in range(self.m):
            row.store(target, 0, self.once(terms, row, 0, b), b)

    def _turn_once(self, turn: Turn, moved: Order, first: Workspace) -> None:
        m, own = self.m, range(len(turn.step))

        def columns(row: Row) -> None:
            column = [self.once(moved.first, row, 0, (turn.at + c) * m) for c in own]
            for r in own:
                row.store(first, 0, dot(turn.by_w[r], column), (turn.at + r) * m)

        def start(row: Row) -> None:
            for r in own:
                for c in own:
                    row.accumulate(first, 0, turn.by_q[r][c], (turn.at + r) * m + turn.at + c)

        self.k.loop([(b,) for b in range(m)], columns)
        self.k.loop([(0,)], start)

    def _turn_twice(self, turn: Turn, moved: Order, second: Workspace) -> None:
        m, at, own = self.m, turn.at, range(len(turn.step))
        bend_q, bend_w = turn.bend(turn.by_q), turn.bend(turn.by_w)

        def bent(row: Row) -> None:
            """Let the direction ``a`` of a row change both derivatives of the block."""
            along = [self.once(moved.first, row, 0, (at + c) * m) for c in own]
            others = [[self.once(moved.first, row, 1, (at + d) * m + b) for b in range(m)] for d in own]
            for r in own:
                change_q, change_w = ([dot(along, column) for column in zip(*bend[r])] for bend in (bend_q, bend_w))
                for b, column in enumerate(zip(*others)):
                    start = change_q[b - at] if at <= b < at + len(own) else 0.0
                    row.store(second, 2, start + dot(change_w, column), self.at(at + r, 0, b))

        def carried(row: Row) -> None:
            column = [self.once(moved.second, row, 0, self.at(at + c)) for c in own]
            for r in own:
                row.accumulate(second, 0, dot(turn.by_w[r], column), self.at(at + r))

        self.k.loop([(a, 0, a * m) for a in range(m)], bent)
        if moved.second:
            self.k.loop([(place,) for place in range(m * m)], carried)

    def at_rest(self, stage: Stage) -> Order:
        """Return the derivatives of the acceleration of the first stage, whose state is the input."""
        k, n, m = self.k, self.n, self.m
        (by_state, minv), second = self._slopes(stage), k.array("acceleration, twice", [None] * (n * m * m))
        first = k.array("acceleration", [None] * (n * m))

        def once(row: Row) -> None:
            for j in range(2 * n):
                row.store(first, 0, row.load(by_state, 1, j * n), j)
            for j in range(n):
                row.store(first, 0, row.load(minv, 2, j), 2 * n + j)

        k.loop([(i * m, i, i * n) for i in range(n)], once)
        qq, vq, vv, uq = self._tensors(stage)
        for start, along, step, parts in ((0, 1, n, (qq, vq, uq)), (n, n, 1, (vq, vv)), (2 * n, n, 1, (uq,))):
            rows = [(i * n * n + along * j, self.at(i, start + j)) for i in range(n) for j in range(n)]
            k.loop(rows, partial(self._spread, parts, step, second))
        return Order([(1.0, first)], [(1.0, second)])

    def _spread(self, parts: Sequence[Workspace], step: int, second: Workspace, row: Row) -> None:
        """Set the changes along a row's direction from tensors in which they are ``step`` apart."""
        n = self.n
        for b in range(self.m):
            value = row.load(parts[b // n], 0, step * (b % n)) if b // n < len(parts) else 0.0
            row.store(second, 1, value, b)

    def accelerated(self, stage: Stage, q: Order, v: Order) -> Order:
        """Return the derivatives of the acceleration of a later stage from those of configuration and velocity."""
        k, n, m = self.k, self.n, self.m
        (by_state, minv), second = self._slopes(stage), self._bent(stage, q, v)
        first = k.array("acceleration", [None] * (n * m))

        def once(row: Row) -> None:
            by_q, by_v = (self._along(row, by_state, o.first, c, lambda j: j * m) for o, c in self.parts(q, v))
            for i, (x, y) in enumerate(zip(by_q, by_v)):
                row.store(first, 0, x + y, i * m)

        def by_u(row: Row) -> None:
            for j in range(n):
                row.accumulate(first, 0, row.load(minv, 1, j), 2 * n + j)

        def carried(order: Order, columns: range, row: Row) -> None:
            for i, value in enumerate(self._along(row, by_state, order.second, columns, self.at)):
                row.accumulate(second, 0, value, self.at(i))

        k.loop([(b, 0) for b in range(m)], once)
        k.loop([(i * m, i * n) for i in range(n)], by_u)
        for order, columns in self.parts(q, v):
            if order.second:
                k.loop([(place, 0) for place in range(m * m)], partial(carried, order, columns))
        return Order([(1.0, first)], [(1.0, second)])

    def _along(
        self, row: Row, by_state: Workspace, terms: Terms, columns: range, place: Callable[[int], int]
    ) -> Iterator[Real]:
        """Yield rows of some columns of the derivatives of an acceleration times a column of a sum of arrays."""
        moving = [self.once(terms, row, 0, place(j)) for j in range(self.n)]
        for i in range(self.n):
            yield dot([row.load(by_state, 1, c * self.n + i) for c in columns], moving)

    def parts(self, q: Order, v: Order) -> tuple[tuple[Order, range], ...]:
        """Return the derivatives of configuration and velocity with their columns in those of the state."""
        return (q, range(self.n)), (v, range(self.n, 2 * self.n))

    def _slopes(self, stage: Stage) -> tuple[Workspace, Workspace]:
        """Return the derivatives of forward dynamics by the state, column after column, and by the force.

        They are ``-M^-1`` times those of inverse dynamics, at the acceleration as ``fdsva_so`` computes it, so that
        both have them in common.
        """
        k, n = self.k, self.n
        shared = {"q": stage.q, "qd": stage.v, **{name: x for name, x in self.held.items() if name != "u"}}
        minv = k.call("minv", q=stage.q)
        free = [x - bias for x, bias in zip(self.held["u"], k.call("inverse_dynamics", **shared))]
        gradient = k.call("inverse_dynamics_gradient", qdd=[dot(row, free) for row in minv], **shared)
        torques = k.array("torques", [x for column in zip(*gradient) for x in column])
        inverse, slopes = k.array("minv", flat(minv)), k.array("slopes", [None] * (2 * n * n))

        def solved(row: Row) -> None:
            column = [row.load(torques, 0, j) for j in range(n)]
            for i in range(n):
                row.store(slopes, 0, -dot([row.load(inverse, 1, i * n + j) for j in range(n)], column), i)

        k.loop([(c * n, 0) for c in range(2 * n)], solved)
        return slopes, inverse

    def _tensors(self, stage: Stage) -> tuple[Workspace, ...]:
        """Return the second derivatives of forward dynamics along ``qq, vq, vv, uq``.

        Their axes are the entry, the column of the first derivative, and the direction that changes it.
        """
        found = self.k.call_workspace("fdsva_so", q=stage.q, qd=stage.v, **self.held)
        return tuple(found[name] for name in ("d2qdd_dq", "d2qdd_cross", "d2qdd_dqd", "d2qdd_du"))

    def _bent(self, stage: Stage, q: Order, v: Order) -> Workspace:
        """Return what the change of the derivatives of forward dynamics makes of the first derivatives."""
        k, n, m = self.k, self.n, self.m
        qq, vq, vv, uq = self._tensors(stage)
        second = k.array("acceleration, twice", [None] * (n * m * m))

        def changed(row: Row) -> None:
            """Change the derivatives of the row's entry along its direction, and take them to all columns."""
            along_q, along_v = ([self.once(o.first, row, 1, d * m) for d in range(n)] for o in (q, v))
            for_q, for_v, for_u = [], [], []
            for j in range(n):
                line, across = range(j * n, j * n + n), range(j, j + n * n, n)
                by_q, by_v, by_u = (dot([row.load(x, 0, d) for d in line], along_q) for x in (qq, vq, uq))
                for_q.append(by_q + dot([row.load(vq, 0, d) for d in across], along_v))
                for_v.append(by_v + dot([row.load(vv, 0, d) for d in line], along_v))
                for_u.append(by_u)
            for b in range(m):
                total = dot(for_q, [self.once(q.first, row, 3, j * m + b) for j in range(n)])
                total = total + dot(for_v, [self.once(v.first, row, 3, j * m + b) for j in range(n)])
                row.store(second, 2, total + (for_u[b - 2 * n] if b >= 2 * n else 0.0), b)

        def pushed(row: Row) -> None:
            """Add what a force of the row changes in the derivatives by the configuration."""
            change = [row.load(uq, 0, j) for j in range(n)]
            for b in range(m):
                row.accumulate(second, 1, dot(change, [self.once(q.first, row, 2, j * m + b) for j in range(n)]), b)

        k.loop([(i * n * n, a, self.at(i, a), 0) for i in range(n) for a in range(m)], changed)
        k.loop([((i * n + j) * n, self.at(i, 2 * n + j), 0) for i in range(n) for j in range(n)], pushed)
        return second


@dataclass(frozen=True)
class Turn:
    """The retraction of a rotation or a pose: where its coordinates begin, its step, and both its derivatives."""

    at: int
    step: Sequence[Real]
    by_q: Matrix
    by_w: Matrix

    def bend(self, matrix: Matrix) -> list[list[list[Real]]]:
        """Return how a derivative changes along the step, ``[row][along][column]``."""
        still = {x: 0.0 for x in self.step if isinstance(x, Scalar)}
        return [[jvp(row, {**still, x: 1.0}) for x in still] for row in matrix]


def emit_hessian(scheme: Scheme, k: KernelBuilder) -> None:
    if k.model.nv == 0:
        k.output("hess", [])
        return
    made, h = Sensitivity(k), k.input("dt")
    stages = list(stages_of(k, scheme))
    velocities, accelerations = [made.velocities()], [made.at_rest(stages[0])]
    for number, (stage, c) in enumerate(zip(stages[1:], scheme.nodes[1:]), 2):
        with k.section(f"derivatives at stage {number}"):
            at = made.retracted(stage.w, velocities[-1].scaled(c * h))
            velocities.append(velocities[0].plus(accelerations[-1].scaled(c * h)))
            accelerations.append(made.accelerated(stage, at, velocities[-1]))
    with k.section("derivatives of the step"):
        moved, faster = Order([], []), Order([], [])
        for b, velocity, acceleration in zip(scheme.weights, velocities, accelerations):
            moved, faster = moved.plus(velocity.scaled(b * h)), faster.plus(acceleration.scaled(b * h))
        moved = moved.plus(accelerations[0].scaled(scheme.acceleration * h * h))
        end = made.retracted(increment(k, scheme, stages), moved)
        _put(made, k.result("hess"), end, faster)


def _put(made: Sensitivity, result: Slots, *orders: Order) -> None:
    """Set the rows of the configuration and of the velocity."""

    def row_of(row: Row) -> None:
        for number, order in enumerate(orders):
            for j in range(made.n if order.second else 0):
                value = made.once(order.second, row, 0, made.at(j))
                row.store(result, 0, value, made.at(number * made.n + j))

    made.k.loop([(place,) for place in range(made.m**2)], row_of)


def _algorithm(scheme: Scheme) -> Algorithm:
    return Algorithm(
        name=f"integrator_hessian_{scheme.name}",
        family="integrators",
        summary=f"Change of the derivative of one step by {scheme.title} along every direction.",
        inputs=(*STEP, F_EXT_SHARED),
        outputs=(HESSIAN,),
        emit=partial(emit_hessian, scheme),
        requires=("forward_dynamics", "inverse_dynamics", "inverse_dynamics_gradient", "minv", "fdsva_so"),
        profiles=("step-hessians",),
        opt_in=True,
        source="Singh, Russell and Wensing, On second-order derivatives of rigid-body dynamics, 2023",
    )


NOTES = (
    "hess[o, a, b] is the derivative of [A | B][o, b] when the input moves along direction a, each taken in the "
    "tangents at its own states; on rotations it is not symmetric in a and b."
)

ALGORITHMS = (
    *map(_algorithm, COVERED),
    Algorithm(
        name="integrator_hessian",
        family="integrators",
        summary="Change of [A | B] of one step along every direction [dq | dqd | du].",
        inputs=(*STEP, F_EXT_SHARED),
        outputs=(HESSIAN,),
        choice=choice("integrator_hessian", COVERED),
        requires=tuple(f"integrator_hessian_{scheme.name}" for scheme in COVERED),
        profiles=("step-hessians",),
        opt_in=True,
        notes=NOTES,
    ),
)
