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
        jacobian = [[columns[slot][r] for slot in moving] for r in range(6)]
        mass = [[inverse_mass[i][j] for j in moving] for i in moving]
        mobility = congruent(jacobian, mass)
    for r in range(6):
        mobility[r][r] = mobility[r][r] + k.input("damping")
    with k.section("inertia"):
        k.output("inertia", inverse_of_positive(mobility))


def congruent(j: Sequence[Sequence[Real]], m: Sequence[Sequence[Real]]) -> Rows:
    """Return ``j m j^T`` for a symmetric ``m``."""
    half = [[dot(row, column) for column in m] for row in j]
    lower = [[dot(half[r], j[c]) for c in range(r + 1)] for r in range(len(j))]
    return [[lower[max(r, c)][min(r, c)] for c in range(len(j))] for r in range(len(j))]


def inverse_of_positive(a: Rows) -> Rows:
    """Return the inverse of a positive definite matrix by ``L D L^T``; pivots that are rounding are raised."""
    n = len(a)
    least = STIFFEST * sum((a[r][r] for r in range(n)), 0.0) + LEAST
    work = [list(row) for row in a]
    lower: Rows = [[0.0] * n for _ in range(n)]
    inverse_d: list[Real] = []
    for k in range(n):
        inverse_d.append(1.0 / maximum(work[k][k], least))
        for i in range(k + 1, n):
            lower[i][k] = work[i][k] * inverse_d[k]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                work[i][j] = work[i][j] - lower[i][k] * work[j][k]
    return _assembled(_inverse_unit_lower(lower), inverse_d)


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
        source="Khatib, A unified approach for motion and force control of robot manipulators, 1987",
    ),
)
