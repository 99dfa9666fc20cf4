"""The plant family: the discrete plant of trajectory optimisation, its derivatives, costs and barriers."""

from __future__ import annotations

from grid_core.plugins import Algorithm, hookimpl
from grid_plugins.plant import activated, barriers, costs, steps


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (*steps.ALGORITHMS, *costs.ALGORITHMS, *activated.ALGORITHMS, *barriers.ALGORITHMS)
