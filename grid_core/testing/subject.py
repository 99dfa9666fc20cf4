"""What is tested: a plugin, by its module, file, folder or name, or one of its algorithms."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from grid_core.errors import PluginError, nearest
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.catalogue import Catalogue, Plugin
from grid_core.plugins.loading import local_file
from grid_core.plugins.manager import load_catalogue

Tested = str | Path | ModuleType | Algorithm


@dataclass(frozen=True)
class Subject:
    """The algorithms that are tested, and the local plugins that they need.

    Attributes
    ----------
    algorithms : tuple of Algorithm
    plugins : tuple of str
        What is loaded beside the installed plugins.
    """

    algorithms: tuple[Algorithm, ...]
    plugins: tuple[str, ...] = ()


def subject_of(tested: Tested) -> Subject:
    """Return what is meant.

    Raises
    ------
    PluginError
        There is no such plugin, it is broken, or it has no such algorithm.
    """
    if isinstance(tested, Algorithm):
        return _subject_of_algorithm(tested)
    if isinstance(tested, ModuleType):
        return _subject_of_path(_place(tested))
    path = Path(tested)
    if path.exists() or isinstance(tested, Path) or path.name != str(tested):
        return _subject_of_path(path)
    catalogue = load_catalogue()
    known = {plugin.name: plugin for plugin in catalogue.plugins}
    if str(tested) not in known:
        raise PluginError(
            f"there is no plugin {str(tested)!r}{nearest(str(tested), known)}; give a file, the folder of a package, "
            f"or one of {', '.join(known)}"
        )
    return Subject(_algorithms(catalogue, known[str(tested)]))


def _subject_of_path(path: Path) -> Subject:
    local = str(path.resolve())
    file = str(local_file(Path(local)))
    catalogue = load_catalogue((local,))
    plugin = next(plugin for plugin in catalogue.plugins if plugin.file == file)
    return Subject(_algorithms(catalogue, plugin), () if plugin.origin != local else (local,))


def _subject_of_algorithm(algorithm: Algorithm) -> Subject:
    if load_catalogue().algorithms.get(algorithm.name) == algorithm:
        return Subject((algorithm,))
    module = sys.modules.get(getattr(algorithm.emit, "__module__", ""))
    known = _subject_of_path(_place(module)) if module is not None else Subject(())
    named = tuple(a for a in known.algorithms if a.name == algorithm.name)
    if not named:
        raise PluginError(
            f"algorithm {algorithm.name!r} is of no plugin that can be found; pass the plugin: its module, file or "
            "folder"
        )
    return Subject(named, known.plugins)


def _algorithms(catalogue: Catalogue, plugin: Plugin) -> tuple[Algorithm, ...]:
    return tuple(a for a in catalogue.algorithms.values() if catalogue.providers[a.name] == plugin)


def _place(module: ModuleType) -> Path:
    """Return the file of a module, or the folder of the package that it is or lies in."""
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    file = Path(top.__file__ or "")
    return file.parent if file.name == "__init__.py" else file
