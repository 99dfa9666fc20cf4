"""The dynamics family: inverse and forward dynamics, mass matrix, bias forces and first derivatives."""

from __future__ import annotations

from grid_core.plugins import Algorithm, hookimpl
from grid_plugins.dynamics import articulated_body, gradients, mass_matrix, newton_euler


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (
        *newton_euler.ALGORITHMS,
        *mass_matrix.ALGORITHMS,
        *articulated_body.ALGORITHMS,
        *gradients.ALGORITHMS,
    )
