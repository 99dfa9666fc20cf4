"""The second-order family: second derivatives of inverse and forward dynamics along the tangent."""

from __future__ import annotations

from grid_core.plugins import Algorithm, hookimpl
from grid_plugins.second_order import forward, inverse


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (*inverse.ALGORITHMS, *forward.ALGORITHMS)
