"""The integrators family: one step in time on the configuration space, its derivative, and many steps."""

from __future__ import annotations

from grid_core.plugins import Algorithm, HeaderSection, hookimpl
from grid_plugins.integrators import gradient, header, hessian, joints, maps, rollout, step


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (
        *maps.ALGORITHMS,
        *joints.ALGORITHMS,
        *step.ALGORITHMS,
        *gradient.ALGORITHMS,
        *hessian.ALGORITHMS,
        *rollout.ALGORITHMS,
    )


@hookimpl
def grid_template_folders() -> tuple[str, ...]:
    return (str(header.TEMPLATES),)


@hookimpl
def grid_header_sections() -> tuple[HeaderSection, ...]:
    return (header.section([algorithm.name for algorithm in grid_algorithms()]),)
