"""Asks one plugin through its own manager, so that its failure is its own, and checks what it answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pluggy

from grid_core.errors import PluginError
from grid_core.plugins import hookspecs
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.check import check_algorithm
from grid_core.plugins.header import HeaderSection


def empty_manager() -> pluggy.PluginManager:
    """Return a manager that knows the hooks and has no plugin."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def declared_algorithms(plugin: object, name: str) -> list[Algorithm]:
    """Return the algorithms that a plugin declares.

    Raises
    ------
    PluginError
        It implements no hook or an unknown one, or declares something impossible.
    """
    manager = _manager_of(plugin, name)
    manager.check_pending()
    if not manager.get_hookcallers(plugin):
        raise PluginError("it implements no hook; decorate its functions with grid_core.plugins.hookimpl")
    algorithms = list(_answers(manager, "grid_algorithms"))
    for algorithm in algorithms:
        check_algorithm(algorithm)
    return algorithms


def template_folders(plugin: object, name: str) -> tuple[str, ...]:
    """Return the folders with the templates of a plugin.

    Raises
    ------
    PluginError
        One of them is no folder.
    """
    folders = []
    for folder in _answers(_manager_of(plugin, name), "grid_template_folders"):
        path = Path(folder) if isinstance(folder, (str, os.PathLike)) else None
        if path is None or not path.is_absolute() or not path.is_dir():
            raise PluginError(
                f"grid_template_folders() names {folder!r:.120}, which is no absolute path of a folder; return such as "
                "str(Path(__file__).parent / 'templates'), and let the package install the files there"
            )
        folders.append(str(folder))
    return tuple(folders)


def header_sections(plugin: object, name: str) -> tuple[HeaderSection, ...]:
    """Return the sections that a plugin writes in headers.

    Raises
    ------
    PluginError
        One of them is no section.
    """
    sections = tuple(_answers(_manager_of(plugin, name), "grid_header_sections"))
    for section in sections:
        if not isinstance(section, HeaderSection):
            raise PluginError(
                f"grid_header_sections() returned {section!r:.80}; return grid_core.plugins.HeaderSection objects"
            )
        names: object = section.algorithms
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise PluginError(
                f"the header section of {section.template!r} has algorithms {names!r:.80}; give a tuple of names, such "
                "as ('crba',)"
            )
    return sections


def _manager_of(plugin: object, name: str) -> pluggy.PluginManager:
    manager = empty_manager()
    manager.register(plugin, name)
    return manager


def _answers(manager: pluggy.PluginManager, hook: str) -> Iterator[Any]:
    for answer in getattr(manager.hook, hook)():
        if isinstance(answer, (str, bytes)) or not isinstance(answer, Iterable):
            raise PluginError(f"{hook}() returned {answer!r:.80}; return a list, with one entry if there is one")
        yield from answer
