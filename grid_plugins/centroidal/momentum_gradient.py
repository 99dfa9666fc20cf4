"""The derivative of the centroidal momentum matrix along the tangent.

Everything is expressed in world axes at the centre of mass. Along a coordinate ``k`` the subtree that it moves turns
rigidly with ``s_k = [w_k; l_k]``. With the momentum ``[p; n]`` of each column about the centre of mass and the velocity
``u = l - p / m`` relative to the centre of mass, a pair of columns of which ``a`` is nearer to the root and ``d`` in
the subtree of ``a`` gives

    dA_d / dq_a = [ w_a x p_d ; w_a x n_d + u_a x p_d ]
    dA_a / dq_d = [ w_a x p_d ; R_d w_a - u_a x p_d ]

where ``R_d`` is the rate of the rotational inertia of the subtree of ``d``. Columns in different branches touch each
other by moving the centre of mass alone: ``dA_j / dq_k = [0; p_j x p_k / m]``. Half of the products are shared, and
what a translation of the base would change is zero by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.ground import inertia_rate
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import ZERO3, Vector, cross, matvec, minus, negative, plus, scale
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Symmetric, dense
from grid_plugins.centroidal.momentum import column_momenta
from grid_plugins.centroidal.posture import Posture
from grid_plugins.centroidal.signature import Q

Tensor = list[list[list[Real]]]


@dataclass(frozen=True)
class Column:
    """A joint column in world axes at the centre of mass: what is ``w``, ``u``, ``R`` and the momentum above."""

    slot: int
    body: int
    turn: Vector
    slip: Vector
    rate: Symmetric
    momentum: Force


def emit_dccrba(k: KernelBuilder) -> None:
    posture = Posture(k, k.input("q"))
    with k.section("joint columns at the centre of mass"):
        columns = _columns(posture)
    a: Tensor = [[[0.0] * k.model.nv for _ in range(k.model.nv)] for _ in range(6)]
    lines = [frozenset(k.model.ancestors(i)) for i in range(k.model.nb)]
    for number, d in enumerate(columns):
        with k.section(f"pairs with {k.model.joints[d.body].name}"):
            for other in columns[:number]:
                if other.body == d.body:
                    _turn(a, d, other)
                    _turn(a, other, d)
                elif other.body in lines[d.body]:
                    _couple(a, other, d)
                else:
                    _part(a, other, d, posture.inverse_mass)
            _turn(a, d, d)
    k.output("gradient", a)


def _columns(posture: Posture) -> list[Column]:
    momenta = iter(column_momenta(posture))
    found: list[Column] = []
    for i, columns in enumerate(posture.tree.columns):
        subtree = posture.anchored(i)
        for slot, s in columns:
            _, momentum = next(momenta)
            moved = subtree.at_point(s)
            at_centre = subtree.about_centre.motion_to_parent(moved)
            slip = minus(at_centre.linear, scale(momentum.linear, posture.inverse_mass))
            rate = inertia_rate(subtree.inertia, moved).to_parent(subtree.about_centre).rotational
            slip = ZERO3 if posture.is_base(i) else slip
            found.append(Column(slot, i, at_centre.angular, slip, rate, momentum))
    return found


def _turn(a: Tensor, moved: Column, along: Column) -> None:
    """Add the derivative of a column along one of the same joint, which turns it."""
    linear = cross(along.turn, moved.momentum.linear)
    angular = plus(cross(along.turn, moved.momentum.angular), cross(along.slip, moved.momentum.linear))
    _add(a, moved.slot, along.slot, linear, angular)


def _couple(a: Tensor, near: Column, far: Column) -> None:
    """Add the derivatives of two columns along each other, the second in the subtree of the first."""
    linear, slipped = cross(near.turn, far.momentum.linear), cross(near.slip, far.momentum.linear)
    _add(a, far.slot, near.slot, linear, plus(cross(near.turn, far.momentum.angular), slipped))
    _add(a, near.slot, far.slot, linear, minus(matvec(dense(far.rate), near.turn), slipped))


def _part(a: Tensor, one: Column, other: Column, inverse_mass: Real) -> None:
    """Add the derivatives of two columns in different branches along each other."""
    angular = cross(scale(one.momentum.linear, inverse_mass), other.momentum.linear)
    _add(a, one.slot, other.slot, ZERO3, angular)
    _add(a, other.slot, one.slot, ZERO3, negative(angular))


def _add(a: Tensor, column: int, along: int, linear: Sequence[Real], angular: Sequence[Real]) -> None:
    for row, x in enumerate((*linear, *angular)):
        a[row][column][along] = a[row][column][along] + x


ALGORITHMS = (
    Algorithm(
        name="dccrba",
        family="centroidal",
        summary="Derivative of the centroidal momentum matrix along the tangent.",
        inputs=(Q,),
        outputs=(Output("gradient", ("6", "nv", "nv"), "[r, j, k] = d A[r, j] / d q_k, rows as in ccrba"),),
        emit=emit_dccrba,
        source="Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, 2013; derivatives written out above",
    ),
)
