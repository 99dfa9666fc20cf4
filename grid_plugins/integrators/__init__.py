"""The integrators family: one step in time on the configuration space, its derivative, and many steps."""

from __future__ import annotations

from grid_core.plugins import Algorithm, hookimpl
from grid_plugins.integrators import gradient, joints, maps, rollout, step


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (*maps.ALGORITHMS, *joints.ALGORITHMS, *step.ALGORITHMS, *gradient.ALGORITHMS, *rollout.ALGORITHMS)
