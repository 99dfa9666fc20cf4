"""Finds plugins (entry points, local files and folders), loads each in isolation and collects what they declare."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from grid_core.errors import PluginError, nearest
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.asking import declared_algorithms, header_sections, template_folders
from grid_core.plugins.catalogue import BrokenPlugin, Catalogue, Plugin
from grid_core.plugins.loading import load_entry_point, load_local, local_file, reason_of
from grid_core.plugins.sources import plugin_digest

GROUP = "grid_rbd.plugins"
DISABLE = "GRID_RBD_DISABLE_PLUGINS"
"""Environment variable: names of plugins to leave out, separated by commas."""

ANY = (Exception, SystemExit)
"""A plugin may fail in any way, and must not take the others down."""


@dataclass(frozen=True)
class _Source:
    """Where a plugin is, and what imports it; ``file`` is that of a local one."""

    name: str
    origin: str
    version: str
    load: Callable[[], ModuleType]
    file: str | None = None


_said: set[str] = set()
_log = logging.getLogger("grid_rbd.plugins")


@lru_cache(maxsize=8)
def load_catalogue(plugin_files: tuple[str, ...] = ()) -> Catalogue:
    """Return the algorithms of all installed plugins and of local ones.

    An installed plugin that fails to load is reported once, with what disables it, and does not stop the others. A file
    is there because somebody named it, so that its failure is an error. One that is installed, too, is the same plugin.

    Parameters
    ----------
    plugin_files : tuple of str
        Paths of single-file plugins, and folders of packages.

    Raises
    ------
    PluginError
        A local file does not exist or is broken, two plugins provide one name, or edges lead in a circle.
    """
    catalogue = survey_plugins(plugin_files)
    for broken in catalogue.broken:
        if broken.is_named:
            raise PluginError(f"plugin file {broken.origin} is broken: {broken.reason}; {remedy(broken)}")
        _warn(f"plugin {broken.name!r} ({broken.origin}) is broken and left out: {broken.reason}; {remedy(broken)}")
    return catalogue


def remedy(broken: BrokenPlugin) -> str:
    """Return what to do about a plugin that could not be loaded."""
    return (
        "mend it, or do not name it" if broken.is_named else f"mend it, or set {DISABLE}={broken.name} to silence this"
    )


@lru_cache(maxsize=8)
def survey_plugins(plugin_files: tuple[str, ...] = ()) -> Catalogue:
    """Return what :func:`load_catalogue` does, for those who show it: ``broken`` has broken files, too."""
    loaded: list[tuple[Plugin, ModuleType]] = []
    broken: list[BrokenPlugin] = []
    for source in _sources(plugin_files):
        if source.file in {plugin.file for plugin, _ in loaded}:
            continue  # it is installed, too
        try:
            module = source.load()
            loaded.append((_describe(source.name, source.version, source.origin, module), module))
        except ANY as error:
            broken.append(BrokenPlugin(source.name, source.origin, reason_of(error)))
    return collect(loaded, broken)


def collect(loaded: Iterable[tuple[Plugin, object]], broken: Iterable[BrokenPlugin] = ()) -> Catalogue:
    """Return the catalogue of the given plugins; tests use it to work with a chosen set."""
    algorithms: dict[str, Algorithm] = {}
    providers: dict[str, Plugin] = {}
    broken, plugins = list(broken), []
    for plugin, module in loaded:
        try:
            declared = declared_algorithms(module, plugin.name)
        except ANY as error:
            broken.append(BrokenPlugin(plugin.name, plugin.origin, reason_of(error)))
            continue
        plugins.append(plugin)
        for algorithm in declared:
            for name in (algorithm.name, *algorithm.aliases):
                _refuse_conflict(name, plugin, algorithms, providers)
            algorithms[algorithm.name] = algorithm
            providers[algorithm.name] = plugin
    broken += _leave_out_dangling(algorithms, providers, plugins)
    return Catalogue(algorithms, providers, tuple(plugins), tuple(broken))


def _warn(message: str) -> None:
    """Log a warning, unless it was given before in this process."""
    if message not in _said:
        _said.add(message)
        _log.warning("%s", message)


def _leave_out_dangling(
    algorithms: dict[str, Algorithm], providers: dict[str, Plugin], plugins: list[Plugin]
) -> list[BrokenPlugin]:
    """Remove plugins that require what no plugin provides, and say which."""
    broken = []
    while dangling := [(a, r) for a in algorithms.values() for r in a.requires if r not in algorithms]:
        algorithm, required = dangling[0]
        plugin = providers[algorithm.name]
        broken.append(
            BrokenPlugin(
                plugin.name,
                plugin.origin,
                f"{algorithm.name!r} requires {required!r}, which no plugin provides{nearest(required, algorithms)}; "
                "install the plugin that provides it",
            )
        )
        for name in [n for n, provider in providers.items() if provider == plugin]:
            del algorithms[name], providers[name]
        plugins.remove(plugin)
    return broken


def _refuse_conflict(name: str, plugin: Plugin, algorithms: dict[str, Algorithm], providers: dict[str, Plugin]) -> None:
    for known in algorithms.values():
        if name == known.name or name in known.aliases:
            raise PluginError(
                f"{name!r} is provided twice: by {providers[known.name]} and by {plugin}; "
                f"uninstall one of them or set {DISABLE} to the name of the one to leave out"
            )


def _describe(name: str, version: str, origin: str, module: ModuleType) -> Plugin:
    folders, sections = template_folders(module, name), header_sections(module, name)
    digest = plugin_digest(module, tuple(Path(folder) for folder in folders))
    return Plugin(name, version, origin, digest, folders, sections, str(Path(module.__file__ or "").resolve()))


def _sources(plugin_files: Sequence[str]) -> Iterator[_Source]:
    points = sorted(entry_points(group=GROUP), key=lambda p: p.name)
    disabled = _disabled([*(point.name for point in points), *(Path(file).resolve().stem for file in plugin_files)])
    for point in points:
        if point.name not in disabled:
            dist = point.dist
            origin = f"package {dist.name}" if dist else "entry point"
            yield _Source(point.name, origin, dist.version if dist else "?", partial(load_entry_point, point))
    for file in dict.fromkeys(plugin_files):
        path = Path(file).resolve()
        begins = local_file(path)
        if path.stem not in disabled:
            yield _Source(path.stem, str(path), "local", partial(load_local, path), str(begins))


def _disabled(known: Sequence[str]) -> set[str]:
    """Return the plugins to leave out; of a name that no plugin has, the log says so."""
    disabled = {name.strip() for name in os.environ.get(DISABLE, "").split(",")} - {""}
    for name in sorted(disabled.difference(known)):
        _warn(
            f"{DISABLE} names {name!r}, but no plugin is called that{nearest(name, known)}; plugins are "
            f"{', '.join(known)}"
        )
    return disabled
