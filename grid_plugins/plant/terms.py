"""What costs are made of: an activation of each residual, and what it becomes along the variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.plugins.algorithm import Output
from grid_core.trace.linalg import Vector, dot
from grid_core.trace.scalar import Real

Values = Sequence[Real]


@dataclass(frozen=True)
class Feature:
    """Values with a target.

    Attributes
    ----------
    residual : sequence of Real
        How far they are from it.
    jacobian : sequence of sequence of Real
        Derivative of the residual along the variables, a row per entry.
    values : sequence of Real
        The values themselves, which bounds are of; None where there is no number to bound, in a rotation.
    """

    residual: Values
    jacobian: Sequence[Values]
    values: Sequence[Real | None] = ()


@dataclass(frozen=True)
class Term:
    """What the entries of a residual cost together, and slope and curvature of each."""

    value: Real
    slopes: Vector
    curvatures: Vector

    def gradient(self, jacobian: Sequence[Values]) -> list[Real]:
        """Return ``J^T a'`` for the residual's Jacobian ``J``."""
        return [dot(column, self.slopes) for column in zip(*jacobian)]


def embedded(block: Sequence[Values], width: int) -> list[list[Real]]:
    """Return a square block in the top left corner of zeros."""
    rows = [[*row, *[0.0] * (width - len(row))] for row in block]
    return rows + [[0.0] * width for _ in range(width - len(rows))]


def outputs(width: str, variables: str) -> tuple[Output, ...]:
    """Return value, gradient and Hessian along variables of a width."""
    return (
        Output("value", (), "cost"),
        Output("grad", (width,), f"derivative along {variables}"),
        Output("hess", (width, width), f"second derivative along {variables}"),
    )
