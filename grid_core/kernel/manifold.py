"""The configuration space of a robot over symbolic scalars: retraction, difference and their Jacobians.

Traced counterparts of :mod:`grid_core.model.configuration`. Coordinates that simply add are the identity in every
Jacobian, so that these are kept as the blocks of free bases and spherical joints alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grid_core.trace.lie import Log, Turn, block_upper, conjugate, normalised, quaternion_multiply
from grid_core.trace.linalg import (
    Matrix,
    Vector,
    dot,
    madd,
    matmul,
    matvec,
    minus,
    negative,
    plus,
    rotation_of_quaternion,
    scale,
    skew,
    transpose,
)
from grid_core.trace.scalar import Real

if TYPE_CHECKING:
    from grid_core.model import Model

Block = tuple[str, int, int, int, int]
"""``(kind, q0, v0, nq, nv)`` as in :attr:`Model.configuration_layout`."""


@dataclass(frozen=True)
class BlockDiagonal:
    """A square matrix of width nv: diagonal blocks by their first slot, and ``outside`` times 1 elsewhere."""

    width: int
    blocks: Mapping[int, Matrix]
    outside: float = 1.0

    def dense(self) -> Matrix:
        return self.before([[float(i == j) for j in range(self.width)] for i in range(self.width)])

    def before(self, rows: Sequence[Sequence[Real]]) -> Matrix:
        """Return this matrix times another one with nv rows."""
        result = [scale(tuple(row), self.outside) for row in rows]
        for first, block in self.blocks.items():
            span = slice(first, first + len(block))
            result[span] = matmul(block, tuple(map(tuple, rows[span])))
        return tuple(result)

    def after(self, row: Sequence[Real]) -> Vector:
        """Return a row of width nv times this matrix."""
        result = list(scale(tuple(row), self.outside))
        for first, block in self.blocks.items():
            span = slice(first, first + len(block))
            result[span] = [dot(row[span], column) for column in zip(*block)]
        return tuple(result)


def integrate(model: Model, q: Sequence[Real], d: Sequence[Real]) -> list[Real]:
    """Return ``q (+) d``; quaternions of any length are accepted, those of the result have unit length."""
    result = list(q)
    for kind, q0, v0, nq, nv in model.configuration_layout:
        start, step = tuple(q[q0 : q0 + nq]), tuple(d[v0 : v0 + nv])
        result[q0 : q0 + nq] = plus(start, step) if kind == "euclidean" else retracted(start, step)
    return result


def retracted(start: Vector, step: Vector) -> Vector:
    """Return where a rotation (quaternion) or a pose gets by a step of 3 or 6 coordinates."""
    turn = Turn(step[-3:])
    turned = normalised(quaternion_multiply(start[-4:], turn.quaternion()))
    if len(step) == 3:
        return turned
    moved = matvec(rotation_of_quaternion(start[-4:]), turn.carried(step[:3]))
    return (*plus(start[:3], moved), *turned)


def integrate_jacobians(model: Model, d: Sequence[Real]) -> tuple[BlockDiagonal, BlockDiagonal]:
    """Return ``d (q (+) d) / d q`` and ``/ d d``, in the tangents at ``q`` and at the result.

    With ``R = exp([phi])`` and ``p = V(phi) rho`` they are ``Ad(exp(-d)) = [[R^T, -R^T [p]], [0, R^T]]`` and the right
    Jacobian of the group.
    """
    by_q = _blocks(model, lambda block: _carried_back(_part(d, block)))
    by_d = _blocks(model, lambda block: _right_jacobian(_part(d, block)))
    return by_q, by_d


def _carried_back(step: Vector) -> Matrix:
    turn = Turn(step[-3:])
    back = transpose(turn.rotation())
    if len(step) == 3:
        return back
    return block_upper(back, matmul(back, skew(negative(turn.carried(step[:3])))))


def _right_jacobian(step: Vector) -> Matrix:
    turn = Turn(step[-3:])
    return turn.right_jacobian() if len(step) == 3 else block_upper(turn.right_jacobian(), turn.coupling(step[:3]))


def difference(model: Model, start: Sequence[Real], end: Sequence[Real]) -> list[Real]:
    """Return the tangent at ``start`` that leads to ``end``; rotations take the short way."""
    result: list[Real] = [0.0] * model.nv
    for block in model.configuration_layout:
        kind, _, v0, _, nv = block
        a, b = _coordinates(start, block), _coordinates(end, block)
        result[v0 : v0 + nv] = minus(b, a) if kind == "euclidean" else logarithm(a, b)
    return result


def logarithm(start: Vector, end: Vector) -> Vector:
    """Return the step from one rotation or pose to another."""
    log = Log(quaternion_multiply(conjugate(start[-4:]), end[-4:]))
    return log.phi if len(start) == 4 else (*log.released(_relative_position(start, end)), *log.phi)


def _relative_position(start: Vector, end: Vector) -> Vector:
    return matvec(transpose(rotation_of_quaternion(start[3:])), minus(end[:3], start[:3]))


def difference_jacobians(
    model: Model, start: Sequence[Real], end: Sequence[Real]
) -> tuple[dict[int, Matrix], dict[int, Matrix]]:
    """Return the derivatives of :func:`difference` along both configurations, as blocks by their first slot.

    Coordinates that add are left out: their derivatives are ``-1`` and ``1``.
    """
    both = {
        block[2]: log_jacobians(_coordinates(start, block), _coordinates(end, block))
        for block in model.configuration_layout
        if block[0] != "euclidean"
    }
    return {v0: pair[0] for v0, pair in both.items()}, {v0: pair[1] for v0, pair in both.items()}


def log_jacobians(start: Vector, end: Vector) -> tuple[Matrix, Matrix]:
    """Return the derivatives of the difference of two rotations or poses along both.

    With ``L = V^-1(phi)``, the relative position ``p`` and ``N = d (V^-1 p) / d phi``:
    ``-[[L, N L - L [p]], [0, L]]`` and ``[[L^T, N L^T], [0, L^T]]``.
    """
    log = Log(quaternion_multiply(conjugate(start[-4:]), end[-4:]))
    left = log.left_inverse()
    right = transpose(left)
    if len(start) == 4:
        return tuple(map(negative, left)), right
    position = _relative_position(start, end)
    bent = log.released_gradient(position)
    swing = madd(matmul(left, skew(position)), matmul(tuple(map(negative, bent)), left))
    return block_upper(tuple(map(negative, left)), swing), block_upper(right, matmul(bent, right))


def bracket_matrix(m: Vector) -> Matrix:
    """Return the matrix of the Lie bracket with a motion ``[rho; phi]`` or ``[phi]``."""
    return skew(m) if len(m) == 3 else block_upper(skew(m[3:]), skew(m[:3]))


def rotational_blocks(model: Model) -> list[tuple[int, int]]:
    """Return first slot and width of the velocity blocks of free bases and spherical joints."""
    return [(v0, nv) for kind, _, v0, _, nv in model.configuration_layout if kind != "euclidean"]


def _blocks(model: Model, make: Callable[[Block], Matrix]) -> BlockDiagonal:
    layout = model.configuration_layout
    return BlockDiagonal(model.nv, {block[2]: make(block) for block in layout if block[0] != "euclidean"})


def _part(d: Sequence[Real], block: Block) -> Vector:
    return tuple(d[block[2] : block[2] + block[4]])


def _coordinates(q: Sequence[Real], block: Block) -> Vector:
    return tuple(q[block[1] : block[1] + block[3]])
