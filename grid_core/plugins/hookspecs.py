"""The hooks that a plugin may implement. Each returns plain declarations."""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.header import HeaderSection

PROJECT = "grid_rbd"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def grid_algorithms() -> Sequence[Algorithm]:  # type: ignore[empty-body]
    """Return the algorithms that the plugin provides."""


@hookspec
def grid_template_folders() -> Sequence[str]:  # type: ignore[empty-body]
    """Return folders with Jinja2 templates; they are searched before the core's and may extend them."""


@hookspec
def grid_header_sections() -> Sequence[HeaderSection]:  # type: ignore[empty-body]
    """Return sections of the consumer header, in order."""
