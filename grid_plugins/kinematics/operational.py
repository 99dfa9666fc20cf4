"""The inertia that a robot shows at its end effector."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.trace.functions import maximum
from grid_core.trace.linalg import dot
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.kinematics.signature import Q
from grid_plugins.kinematics.skeleton import Skeleton
from grid_plugins.kinematics.targets import first_end_effector

Rows = list[list[Real]]

DAMPING = Input(
    "damping",
    (),
    "added to the diagonal of the mobility J M^-1 J^T before it is inverted (1/kg, 1/(kg m^2))",
    default=0.0,
    keyword_only=True,
)
STIFFEST = 1e-12
"""What a direction moves at least, as a part of the trace of the mobility: less is rounding."""

LEAST = 1e-30
"""The same where nothing moves."""


def emit_osc_inertia(k: KernelBuilder) -> None:
    inverse_mass = k.call("minv", q=k.input("q"))
    target = first_end_effector(k, Skeleton(k, k.input("q")))
    columns = [c.linear + c.angular for c in target.jacobian(target.pose.translation)]
    moving = [slot for slot, column in enumerate(columns) if any(isinstance(x, Scalar) or x != 0.0 for x in column)]
    with k.section("mobility"):
        lower, weights = ldl([[inverse_mass[i][j] for j in moving] for i in moving])
        rows = [[dot(column, [columns[slot][r] for slot in moving]) for column in zip(*lower)] for r in range(6)]
    damped = [[*row, *(float(r == c) for c in range(6))] for r, row in enumerate(rows)]
    with k.section("inertia"):
        k.output("inertia", inverse_of_products(damped, [*weights, *[k.input("damping")] * 6]))


def ldl(a: Sequence[Sequence[Real]]) -> tuple[Rows, list[Real]]:
    """Return ``L``, unit lower triangular, and ``D`` of a positive definite ``a = L D L^T``."""
    n = len(a)
    work = [list(row) for row in a]
    lower: Rows = [[float(r == c) for c in range(n)] for r in range(n)]
    for k in range(n):
        inverse = 1.0 / work[k][k]
        for i in range(k + 1, n):
            lower[i][k] = work[i][k] * inverse
            for j in range(k + 1, i + 1):
                work[i][j] = work[i][j] - lower[i][k] * work[j][k]
    return lower, [work[k][k] for k in range(n)]


def inverse_of_products(rows: Rows, weights: Sequence[Real]) -> Rows:
    """Return the inverse of ``X W X^T``, which is never formed: it would square the condition of the rows of ``X``.

    The rows are made orthogonal in the weighted product one after the other (modified Gram-Schmidt without square
    roots), so that ``X W X^T = L D L^T``. Lengths that are rounding are raised.

    Parameters
    ----------
    rows : list of list
        ``X``.
    weights : sequence
        Diagonal of ``W``, at least 0.
    """
    n = len(rows)
    least = STIFFEST * sum((dot(row, _weighted(row, weights)) for row in rows), 0.0) + LEAST
    work = [list(row) for row in rows]
    lower: Rows = [[0.0] * n for _ in range(n)]
    inverse_d: list[Real] = []
    for k in range(n):
        scaled = _weighted(work[k], weights)
        inverse_d.append(1.0 / maximum(dot(work[k], scaled), least))
        for i in range(k + 1, n):
            lower[i][k] = dot(work[i], scaled) * inverse_d[k]
            work[i] = [x - lower[i][k] * y for x, y in zip(work[i], work[k])]
    return _assembled(_inverse_unit_lower(lower), inverse_d)


def _weighted(row: Sequence[Real], weights: Sequence[Real]) -> list[Real]:
    return [x * w for x, w in zip(row, weights)]


def _inverse_unit_lower(lower: Rows) -> Rows:
    n = len(lower)
    inverse: Rows = [[1.0 if r == c else 0.0 for c in range(n)] for r in range(n)]
    for c in range(n):
        for r in range(c + 1, n):
            inverse[r][c] = -sum((lower[r][m] * inverse[m][c] for m in range(c, r)), 0.0)
    return inverse


def _assembled(inverse_l: Rows, inverse_d: Sequence[Real]) -> Rows:
    """Return ``L^-T D^-1 L^-1``."""
    n = len(inverse_d)
    scaled = [[x * d for x in row] for row, d in zip(inverse_l, inverse_d)]
    lower = [[sum((scaled[m][r] * inverse_l[m][c] for m in range(r, n)), 0.0) for c in range(r + 1)] for r in range(n)]
    return [[lower[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)]


ALGORITHMS = (
    Algorithm(
        name="osc_inertia",
        family="kinematics",
        summary="Operational-space inertia (J M^-1 J^T)^-1 of the first end effector, linear before angular.",
        inputs=(Q, DAMPING),
        outputs=(Output("inertia", ("6", "6"), "at the end effector's origin in world axes (kg, kg m, kg m^2)"),),
        emit=emit_osc_inertia,
        requires=("minv",),
        profiles=("frame-jacobian",),
        notes="Where the end effector cannot move in every direction, at a singularity or with fewer than six degrees "
        "of freedom, the inverse does not exist: without damping the inertia of such a direction is limited to 1e12 "
        "times the least one, so that it means nothing but is finite.",
        source="Khatib, A unified approach for motion and force control of robot manipulators, 1987; Bjorck, Solving "
        "linear least squares problems by Gram-Schmidt orthogonalization, 1967",
    ),
)
