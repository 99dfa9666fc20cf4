"""The derivative of one stage of a step, applied to rows from the left.

With the derivatives ``[T_q | T_v]`` of inverse dynamics and ``G = L M^-1``, the adjoint ``L`` of an acceleration gives

    a = FD(q, v, u):    u += G,    q -= G T_q,    v -= G T_v,

so that neither ``M^-1 T_q`` nor products with the columns of earlier stages are formed: 19 products of the size nv^3
for the classical method, where the chain rule forwards takes 26.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.manifold import BlockDiagonal, bracket_matrix, integrate_jacobians, rotational_blocks
from grid_core.trace.lie import adjoint
from grid_core.trace.linalg import Matrix, Vector, madd, matmul, plus, scale
from grid_core.trace.scalar import Real
from grid_plugins.integrators.rows import identity
from grid_plugins.integrators.schemes import Scheme
from grid_plugins.integrators.step import Stage


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
        back = tuple(-x for x in by_u)
        by_configuration = times(back, self.by_q)
        by_velocity = times(back, self.by_v, self.rate_v.after(rate))
        by_increment = plus(self.step.after(by_configuration), self.rate_w.after(rate))
        return self.base.after(by_configuration), by_velocity, by_increment


def times(row: Sequence[Real], m: Matrix, start: Sequence[Real] | None = None) -> Vector:
    """Return a row times a matrix, added to another row term by term: every term is one fused multiply-add."""
    result = [0.0] * len(m[0]) if start is None else list(start)
    for x, others in zip(row, m):
        result = [total + x * other for total, other in zip(result, others)]
    return tuple(result)


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
