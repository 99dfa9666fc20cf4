"""The plant family: the discrete plant of trajectory optimisation, its derivatives, costs and barriers."""

from __future__ import annotations

from grid_core.plugins import Algorithm, HeaderSection, hookimpl
from grid_plugins.plant import activated, barriers, costs, header, menu, steps


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (
        *steps.ALGORITHMS,
        *costs.ALGORITHMS,
        *activated.ALGORITHMS,
        *menu.ALGORITHMS,
        *barriers.ALGORITHMS,
    )


@hookimpl
def grid_template_folders() -> tuple[str, ...]:
    return (str(header.TEMPLATES),)


@hookimpl
def grid_header_sections() -> tuple[HeaderSection, ...]:
    return (header.section([algorithm.name for algorithm in grid_algorithms()]),)
