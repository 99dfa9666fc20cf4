"""Several stages differentiated backwards.

The rows of ``[W; v_next]`` are carried from the last stage to the first, each stage taking the adjoint ``L`` of its
acceleration to those of its configuration, velocity and force. With the derivatives ``[T_q | T_v]`` of inverse dynamics
and ``G = L M^-1``,

    a = FD(q, v, u):    u += G,    q -= G T_q,    v -= G T_v,

so that neither ``M^-1 T_q`` nor products with the columns of earlier stages are formed: 19 products of the size nv^3
for the classical method, where the chain rule forwards takes 26. The adjoints of the last stages are multiples of unit
vectors, so that ``G`` is a row of ``M^-1``.

Rows do not depend on each other. They are written out for small robots; for large ones the rows of a stage are a loop,
which bounds the length of the generated code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder, Row, Workspace
from grid_core.kernel.manifold import BlockDiagonal, bracket_matrix, integrate_jacobians, rotational_blocks
from grid_core.trace.lie import adjoint
from grid_core.trace.linalg import Matrix, Vector, dot, madd, matmul, minus, plus, scale
from grid_core.trace.scalar import Real
from grid_plugins.integrators.rows import Rows, cut, flat, identity, side_by_side, zeros
from grid_plugins.integrators.schemes import Scheme
from grid_plugins.integrators.step import Stage, stages_of

WRITTEN_OUT = 8
"""Velocity coordinates up to which rows are written out. The loops are as fast, but one warp of a GPU runs them."""


@dataclass(frozen=True)
class Pullback:
    """The derivative of one stage, applied to rows: from its acceleration and rate to what they depend on."""

    minv: Matrix
    by_q: Matrix
    by_v: Matrix
    base: BlockDiagonal
    """``d (q (+) w) / d q``"""
    step: BlockDiagonal
    """``d (q (+) w) / d w``"""
    rate_v: BlockDiagonal
    rate_w: BlockDiagonal

    def through(self, by_u: Sequence[Real], rate: Sequence[Real]) -> tuple[Vector, Vector, Vector]:
        """Return the rows along ``q, v, w`` of a row along ``a, k``, of which ``by_u`` is that along ``u``."""
        by_configuration = tuple(-x for x in _times(by_u, self.by_q))
        by_velocity = minus(self.rate_v.after(rate), _times(by_u, self.by_v))
        by_increment = plus(self.step.after(by_configuration), self.rate_w.after(rate))
        return self.base.after(by_configuration), by_velocity, by_increment


def _times(row: Sequence[Real], m: Matrix) -> Vector:
    return tuple(dot(row, column) for column in zip(*m))


def pullback(k: KernelBuilder, scheme: Scheme, stage: Stage) -> Pullback:
    """Trace the derivatives at a stage."""
    n = k.model.nv
    held = {name: k.input(name) for name in ("gravity", "f_ext") if k.has(name)}
    gradient = k.call("inverse_dynamics_gradient", q=stage.q, qd=stage.v, qdd=stage.a, **held)
    by_q, by_v = tuple(tuple(row[:n]) for row in gradient), tuple(tuple(row[n:]) for row in gradient)
    base, step = integrate_jacobians(k.model, stage.w)
    rate_v, rate_w = _rate_jacobians(k, scheme, stage)
    return Pullback(k.call("minv", q=stage.q), by_q, by_v, base, step, rate_v, rate_w)


def _rate_jacobians(k: KernelBuilder, scheme: Scheme, stage: Stage) -> tuple[BlockDiagonal, BlockDiagonal]:
    """Return ``d k / d v`` and ``d k / d w`` of the rate ``k = v + [w, v] / 2 + [w, [w, v]] / 12``."""
    by_v: dict[int, Matrix] = {}
    by_w: dict[int, Matrix] = {}
    for first, width in rotational_blocks(k.model) if scheme.on_group else ():
        w, v = tuple(stage.w[first : first + width]), tuple(stage.v[first : first + width])
        along_w, along_v, twice = bracket_matrix(w), bracket_matrix(v), bracket_matrix(adjoint(w, v))
        correction = madd(_scaled(along_w, 0.5), _scaled(matmul(along_w, along_w), 1.0 / 12.0))
        by_v[first] = madd(tuple(identity(width)), correction)
        bent = madd(twice, matmul(along_w, along_v))
        by_w[first] = madd(_scaled(along_v, -0.5), _scaled(bent, -1.0 / 12.0))
    return BlockDiagonal(k.model.nv, by_v), BlockDiagonal(k.model.nv, by_w, outside=0.0)


def _scaled(m: Matrix, s: float) -> Matrix:
    return tuple(scale(row, s) for row in m)


def backwards(k: KernelBuilder, scheme: Scheme) -> tuple[list[Stage], Rows, Rows]:
    """Return the stages, and the derivatives of ``W`` and of ``v_next - v`` along ``q, v, u``."""
    stages, pulled = [], []
    for number, stage in enumerate(stages_of(k, scheme)):
        with k.section(f"derivatives at stage {number + 1}"):
            pulled.append(pullback(k, scheme, stage))
        stages.append(stage)
    with k.section("rows through the stages"):
        rows = (_written_out if k.model.nv <= WRITTEN_OUT else _looped)(k, scheme, pulled)
    n = k.model.nv
    return stages, rows[:n], rows[n:]


def _written_out(k: KernelBuilder, scheme: Scheme, pulled: Sequence[Pullback]) -> Rows:
    """Return the rows of ``[W; v_next - v]`` along ``q, v, u``, each by operations of its own."""
    n, h = k.model.nv, k.input("dt")
    total, acceleration, rate = zeros(2 * n, 3 * n), zeros(2 * n, n), zeros(2 * n, n)
    for pull, c, b in reversed(list(zip(pulled, scheme.nodes, scheme.weights))):
        acceleration = [*acceleration[:n], *map(plus, acceleration[n:], identity(n, b * h))]
        rate = [*map(plus, rate[:n], identity(n, b * h)), *rate[n:]]
        by_u = [_times(row, pull.minv) for row in acceleration]
        by_q, by_v, by_w = zip(*map(pull.through, by_u, rate))
        total = list(map(plus, total, side_by_side(by_q, by_v, by_u)))
        acceleration, rate = [scale(row, c * h) for row in by_v], [scale(row, c * h) for row in by_w]
    return total


def _looped(k: KernelBuilder, scheme: Scheme, pulled: Sequence[Pullback]) -> Rows:
    """Return the same; the rows of a stage are a loop over three arrays in the workspace."""
    n, h = k.model.nv, k.input("dt")
    b = [weight * h for weight in scheme.weights]
    c = [node * h for node in scheme.nodes]
    last = len(pulled) - 1
    by_v, by_w = zip(*(pulled[last].through((0.0,) * n, row)[1:] for row in identity(n, b[last])))
    loops = _RowLoops(k, pulled, c, side_by_side(zeros(n, n), by_v, zeros(n, n)),
                      [scale(row, c[last]) for row in by_v], [scale(row, c[last]) for row in by_w])  # fmt: skip
    loops.run(last, range(n, 2 * n), b[last])
    for i in reversed(range(last)):
        loops.add_diagonal(loops.acceleration, n, b[i])
        loops.add_diagonal(loops.rate, 0, b[i])
        alone = i == last - 1 and not scheme.on_group
        loops.run(i, range(n), c[last] * b[last] if alone else None)
        loops.run(i, range(n, 2 * n), None)
    return cut(loops.total.values(), 3 * n)


class _RowLoops:
    """Rows in the workspace: what they sum up to, and what they are along the acceleration and the rate of a stage."""

    def __init__(
        self,
        k: KernelBuilder,
        pulled: Sequence[Pullback],
        steps: Sequence[Real],
        total: Rows,
        acceleration: Rows,
        rate: Rows,
    ) -> None:
        n = k.model.nv
        self._k, self._pulled, self._steps, self._n = k, pulled, steps, n
        self.total = k.array("total", flat([*total, *zeros(n, 3 * n)]))
        self.acceleration = k.array("acceleration", flat([*acceleration, *zeros(n, n)]))
        self.rate = k.array("rate", flat([*rate, *zeros(n, n)]))

    def add_diagonal(self, array: Workspace, first: int, value: Real) -> None:
        """Add a value on the diagonal of the rows from ``first`` on."""
        n = self._n
        self._k.loop([((first + j) * n + j,) for j in range(n)], lambda row: row.accumulate(array, 0, value))

    def run(self, number: int, rows: Sequence[int], unit: Real | None) -> None:
        """Carry rows through a stage; with ``unit``, their accelerations are that times the unit vectors."""
        n, pull, step = self._n, self._pulled[number], self._steps[number]
        start = self.acceleration if unit is None else self._k.array("minv", flat(pull.minv))

        def body(row: Row) -> None:
            if unit is None:
                by_u = _times([row.load(start, 0, j) for j in range(n)], pull.minv)
            else:
                by_u = scale(tuple(row.load(start, 2, j) for j in range(n)), unit)
            by_q, by_v, by_w = pull.through(by_u, [row.load(self.rate, 0, j) for j in range(n)])
            for j, x in enumerate((*by_q, *by_v, *by_u)):
                row.accumulate(self.total, 1, x, j)
            for j in range(n if number > 0 else 0):
                row.store(self.acceleration, 0, step * by_v[j], j)
                row.store(self.rate, 0, step * by_w[j], j)

        self._k.loop([(n * r, 3 * n * r, n * (r % n)) for r in rows], body)
