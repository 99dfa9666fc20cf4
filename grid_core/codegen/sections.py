"""Renders the sections that plugins add to the consumer header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from grid_core.codegen.render import render_kernel, render_template
from grid_core.plugins.header import HeaderContents

if TYPE_CHECKING:
    from grid_core.kernel.settings import TraceSettings
    from grid_core.model import Model
    from grid_core.plugins.catalogue import Catalogue


def render_sections(
    names: Sequence[str],
    model: Model,
    catalogue: Catalogue,
    settings: TraceSettings,
    namespace: str = "grid",
    chosen: Mapping[str, bool] | None = None,
) -> str:
    """Return what follows :func:`~grid_core.codegen.render.render_header` in a header of the same algorithms.

    ``chosen`` is that of :meth:`~grid_core.plugins.catalogue.Catalogue.sections`.
    """
    rendered = partial(render_kernel, rows=True)
    contents = HeaderContents(model, settings, catalogue.algorithms, tuple(names), rendered)
    return "".join(
        render_template(
            section.template, plugin.template_folders, namespace=namespace, model=model, **section.values(contents)
        )
        for plugin, section in catalogue.sections(names, chosen)
    )
