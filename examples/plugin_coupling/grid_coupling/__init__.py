"""Inertial coupling: a family of algorithms for grid-rbd in a package of its own."""

from __future__ import annotations

from grid_core.plugins import Algorithm, HeaderSection, hookimpl
from grid_coupling import coupling, header


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return coupling.ALGORITHMS


@hookimpl
def grid_template_folders() -> tuple[str, ...]:
    return (str(header.TEMPLATES),)


@hookimpl
def grid_header_sections() -> tuple[HeaderSection, ...]:
    return (header.SECTION,)
