"""Several stages differentiated backwards: the rows of ``[W; v_next]`` are carried from the last stage to the first.

Rows do not depend on each other. They are written out for small robots; for large ones the rows of a stage are a loop,
which bounds the length of the generated code, and what a stage needs is computed again when it is its turn, which keeps
the workspace small.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder, Row, Workspace
from grid_core.trace.linalg import Matrix, plus, scale
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.integrators.pullback import Pullback, pullback, times
from grid_plugins.integrators.rows import Rows, cut, flat, identity, side_by_side, zeros
from grid_plugins.integrators.schemes import Scheme
from grid_plugins.integrators.step import Stage, Values, stages_of

WRITTEN_OUT = 8
"""Velocity coordinates up to which rows are written out. The loops are as fast, but one warp of a GPU runs them."""


def backwards(k: KernelBuilder, scheme: Scheme) -> tuple[list[Stage], Rows, Rows]:
    """Return the stages, and the derivatives of ``W`` and of ``v_next - v`` along ``q, v, u``."""
    n = k.model.nv
    stages, rows = (_written_out if n <= WRITTEN_OUT else _looped)(k, scheme)
    return stages, rows[:n], rows[n:]


def _acceleration(k: KernelBuilder, scheme: Scheme, number: int, minv: Matrix) -> tuple[Real, Matrix]:
    """Return the diagonal that the rows of a stage's acceleration start with, and what takes them to ``u``.

    An acceleration counts in ``v_next``, with its weight, and in the velocity of the stage after it, where rows come
    from. They stay without the factor ``c h`` of that velocity, which goes to ``M^-1``, and so does their start.
    """
    h, b = k.input("dt"), scheme.weights[number]
    last = number + 1 == len(scheme.nodes)
    step = b if last else scheme.nodes[number + 1]
    return (1.0 if last else b / step), tuple(scale(row, step * h) for row in minv)


def _written_out(k: KernelBuilder, scheme: Scheme) -> tuple[list[Stage], Rows]:
    """Return the stages and the rows of ``[W; v_next - v]`` along ``q, v, u``, each by operations of its own."""
    n, h = k.model.nv, k.input("dt")
    stages, pulled = [], []
    for number, stage in enumerate(stages_of(k, scheme)):
        with k.section(f"derivatives at stage {number + 1}"):
            pulled.append(pullback(k, scheme, stage))
        stages.append(stage)
    total, acceleration, rate = zeros(2 * n, 3 * n), zeros(2 * n, n), zeros(2 * n, n)
    for number, (pull, c, b) in reversed(list(enumerate(zip(pulled, scheme.nodes, scheme.weights)))):
        with k.section(f"rows through stage {number + 1}"):
            start, minv = _acceleration(k, scheme, number, pull.minv)
            acceleration = [*acceleration[:n], *map(plus, acceleration[n:], identity(n, start))]
            rate = [*map(plus, rate[:n], identity(n, b * h)), *rate[n:]]
            by_u = [times(row, minv) for row in acceleration]
            by_q, acceleration, by_w = map(list, zip(*map(pull.through, by_u, rate)))
            total = list(map(plus, total, side_by_side(by_q, acceleration, by_u)))
            rate = [scale(row, c * h) for row in by_w]
    return stages, total


def _looped(k: KernelBuilder, scheme: Scheme) -> tuple[list[Stage], Rows]:
    """Return the same; the rows of a stage are a loop over three arrays in the workspace."""
    n, h = k.model.nv, k.input("dt")
    stages = list(stages_of(k, scheme))
    loops: _RowLoops | None = None
    for number, (stage, c, b) in reversed(list(enumerate(zip(stages, scheme.nodes, scheme.weights)))):
        with k.section(f"derivatives at stage {number + 1}"):
            pull = pullback(k, scheme, _anew(k, stage))
        start, minv = _acceleration(k, scheme, number, pull.minv)
        with k.section(f"rows through stage {number + 1}"):
            if loops is None:
                loops = _RowLoops(k, pull, b * h, c * h)
                loops.run(pull, range(n, 2 * n), minv, 1.0, c * h)
                continue
            loops.add_diagonal(loops.acceleration, n, start)
            loops.add_diagonal(loops.rate, 0, b * h)
            alone = number + 2 == len(stages) and not scheme.on_group
            loops.run(pull, range(n), minv, scheme.weights[-1] * h if alone else None, c * h)
            loops.run(pull, range(n, 2 * n), minv, None, c * h)
    assert loops is not None
    return stages, cut(loops.total.values(), 3 * n)


def _anew(k: KernelBuilder, stage: Stage) -> Stage:
    """Return a stage read from the workspace, so that what was computed from it before does not wait for this use."""

    def kept(values: Values) -> Values:
        moving = [x for x in values if isinstance(x, Scalar)]
        again = iter(k.array("stage", moving).values()) if moving else iter(())
        return [next(again) if isinstance(x, Scalar) else x for x in values]

    return Stage(*map(kept, (stage.w, stage.q, stage.v, stage.a, stage.rate)))


class _RowLoops:
    """Rows in the workspace: what they sum up to, and what they are along the acceleration and the rate of a stage."""

    def __init__(self, k: KernelBuilder, last: Pullback, weight: Real, step: Real) -> None:
        """Carry the rows of ``W`` through the last stage: they are multiples of unit vectors along its rate."""
        self._k, self._n = k, k.model.nv
        n = self._n
        by_v, by_w = zip(*(last.through((0.0,) * n, row)[1:] for row in identity(n, weight)))
        total = [*side_by_side(zeros(n, n), by_v, zeros(n, n)), *zeros(n, 3 * n)]
        self.total = k.array("total", flat(total))
        self.acceleration = k.array("acceleration", flat([*by_v, *zeros(n, n)]))
        self.rate = k.array("rate", flat([*(scale(row, step) for row in by_w), *zeros(n, n)]))

    def add_diagonal(self, array: Workspace, first: int, value: Real) -> None:
        """Add a value on the diagonal of the rows from ``first`` on."""
        n = self._n
        self._k.loop([((first + j) * n + j,) for j in range(n)], lambda row: row.accumulate(array, 0, value))

    def run(self, pull: Pullback, rows: Sequence[int], minv: Matrix, unit: Real | None, step: Real) -> None:
        """Carry rows through a stage; with ``unit``, their accelerations are that times the unit vectors."""
        n = self._n
        start = self.acceleration if unit is None else self._k.array("minv", flat(minv))

        def body(row: Row) -> None:
            if unit is None:
                by_u = times([row.load(start, 0, j) for j in range(n)], minv)
            else:
                by_u = scale(tuple(row.load(start, 2, j) for j in range(n)), unit)
            by_q, by_v, by_w = pull.through(by_u, [row.load(self.rate, 0, j) for j in range(n)])
            for j, x in enumerate((*by_q, *by_v, *by_u)):
                row.accumulate(self.total, 1, x, j)
            for j in range(n):
                row.store(self.acceleration, 0, by_v[j], j)
                row.store(self.rate, 0, step * by_w[j], j)

        self._k.loop([(n * r, 3 * n * r, n * (r % n)) for r in rows], body)
