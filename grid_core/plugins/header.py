"""Sections of the consumer header that a plugin writes beside its algorithms: types, tables and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grid_core.codegen.render import Rendered
    from grid_core.kernel.kernel import Kernel
    from grid_core.kernel.settings import TraceSettings
    from grid_core.model import Model
    from grid_core.plugins.algorithm import Algorithm


@dataclass(frozen=True)
class HeaderContents:
    """What a header is made for.

    Attributes
    ----------
    model : Model
    settings : TraceSettings
    algorithms : mapping of str to Algorithm
        Every declared algorithm.
    names : tuple of str
        Those that the header has.
    rendered : callable
        ``rendered(kernel)`` makes a traced kernel C++ functions, a :class:`~grid_core.codegen.render.Rendered`.
    """

    model: Model
    settings: TraceSettings
    algorithms: Mapping[str, Algorithm]
    names: tuple[str, ...]
    rendered: Callable[[Kernel], Rendered]


@dataclass(frozen=True)
class HeaderSection:
    """A section of the header, after the functions of the algorithms.

    Parameters
    ----------
    template : str
        Jinja2 template of the plugin's folders; it opens the namespaces that it writes in. It is given ``namespace``,
        ``model`` and what ``values`` returns.
    algorithms : tuple of str
        A header that has one of them has the section.
    values : callable
        ``values(contents)`` returns more for the template.
    """

    template: str
    algorithms: tuple[str, ...]
    values: Callable[[HeaderContents], Mapping[str, Any]]
