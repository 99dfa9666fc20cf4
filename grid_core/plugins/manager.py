"""Finds plugins (entry points, local files), loads each in isolation and collects what they declare."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

import pluggy

from grid_core.errors import PluginError, nearest
from grid_core.plugins import hookspecs
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.catalogue import BrokenPlugin, Catalogue, Plugin
from grid_core.plugins.check import check_algorithm
from grid_core.plugins.sources import plugin_digest

GROUP = "grid_rbd.plugins"
DISABLE = "GRID_RBD_DISABLE_PLUGINS"
"""Environment variable: names of plugins to leave out, separated by commas."""

ANY = (Exception, SystemExit)
"""A plugin may fail in any way, and must not take the others down."""

_said: set[str] = set()
_log = logging.getLogger("grid_rbd.plugins")


@lru_cache(maxsize=8)
def load_catalogue(plugin_files: tuple[str, ...] = ()) -> Catalogue:
    """Return the algorithms of all installed plugins and of local plugin files.

    An installed plugin that fails to load is reported once, with what disables it, and does not stop the others. A file
    is there because somebody named it, so that its failure is an error.

    Parameters
    ----------
    plugin_files : tuple of str
        Paths of single-file plugins.

    Raises
    ------
    PluginError
        A local file does not exist or is broken, two plugins provide one name, or edges lead in a circle.
    """
    catalogue = survey_plugins(plugin_files)
    named = {str(Path(file).resolve()) for file in plugin_files}
    for broken in catalogue.broken:
        if broken.origin in named:
            raise PluginError(f"plugin file {broken.origin} is broken: {broken.reason}; mend it, or do not name it")
        _warn(
            f"plugin {broken.name!r} ({broken.origin}) is broken and left out: {broken.reason}; "
            f"set {DISABLE}={broken.name} to silence this"
        )
    return catalogue


@lru_cache(maxsize=8)
def survey_plugins(plugin_files: tuple[str, ...] = ()) -> Catalogue:
    """Return what :func:`load_catalogue` does, for those who show it: ``broken`` has broken files, too."""
    loaded: list[tuple[Plugin, ModuleType]] = []
    broken: list[BrokenPlugin] = []
    for name, origin, version, load in _sources(plugin_files):
        try:
            module = load()
            loaded.append((_describe(name, version, origin, module), module))
        except ANY as error:
            broken.append(BrokenPlugin(name, origin, f"{type(error).__name__}: {error}"))
    return collect(loaded, broken)


def collect(loaded: Iterable[tuple[Plugin, object]], broken: Iterable[BrokenPlugin] = ()) -> Catalogue:
    """Return the catalogue of the given plugins; tests use it to work with a chosen set."""
    algorithms: dict[str, Algorithm] = {}
    providers: dict[str, Plugin] = {}
    broken, plugins = list(broken), []
    for plugin, module in loaded:
        try:
            declared = _declared(plugin, module)
        except ANY as error:
            broken.append(BrokenPlugin(plugin.name, plugin.origin, f"{type(error).__name__}: {error}"))
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


def _declared(plugin: Plugin, module: object) -> list[Algorithm]:
    """Ask one plugin for its algorithms through its own manager, so that its failure is its own."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(module, plugin.name)
    manager.check_pending()
    if not manager.get_hookcallers(module):
        raise PluginError("it implements no hook; decorate its functions with grid_core.plugins.hookimpl")
    algorithms = [algorithm for answer in manager.hook.grid_algorithms() for algorithm in answer]
    for algorithm in algorithms:
        check_algorithm(algorithm)
    return algorithms


def _describe(name: str, version: str, origin: str, module: ModuleType) -> Plugin:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(module, name)
    folders = [str(folder) for answer in manager.hook.grid_template_folders() for folder in answer]
    sections = tuple(section for answer in manager.hook.grid_header_sections() for section in answer)
    digest = plugin_digest(module, tuple(Path(folder) for folder in folders))
    return Plugin(name, version, origin, digest, tuple(folders), sections)


def _sources(plugin_files: Sequence[str]) -> Iterator[tuple[str, str, str, _Load]]:
    points = sorted(entry_points(group=GROUP), key=lambda p: p.name)
    disabled = _disabled([*(point.name for point in points), *(Path(file).resolve().stem for file in plugin_files)])
    for point in points:
        if point.name not in disabled:
            dist = point.dist
            origin = f"package {dist.name}" if dist else "entry point"
            yield point.name, origin, dist.version if dist else "?", _EntryPointLoad(point)
    for file in dict.fromkeys(plugin_files):
        path = Path(file).resolve()
        if not path.is_file():
            raise PluginError(f"plugin file {file} does not exist; give the path of a Python file with grid_rbd hooks")
        if path.stem not in disabled:
            yield path.stem, str(path), "local", _FileLoad(path)


def _disabled(known: Sequence[str]) -> set[str]:
    """Return the plugins to leave out; of a name that no plugin has, the log says so."""
    disabled = {name.strip() for name in os.environ.get(DISABLE, "").split(",")} - {""}
    for name in sorted(disabled.difference(known)):
        _warn(
            f"{DISABLE} names {name!r}, but no plugin is called that{nearest(name, known)}; plugins are "
            f"{', '.join(known)}"
        )
    return disabled


class _Load:
    def __call__(self) -> ModuleType:
        raise NotImplementedError


class _EntryPointLoad(_Load):
    def __init__(self, point: EntryPoint) -> None:
        self._point = point

    def __call__(self) -> ModuleType:
        loaded = self._point.load()
        if not isinstance(loaded, ModuleType):
            raise PluginError(
                f"entry point {self._point.value!r} is not a module; point it at the module that has the hooks"
            )
        return loaded


class _FileLoad(_Load):
    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self) -> ModuleType:
        name = f"grid_rbd_plugin_{hashlib.sha256(str(self._path).encode()).hexdigest()[:12]}"
        spec = importlib.util.spec_from_file_location(name, self._path)
        if spec is None or spec.loader is None:
            raise PluginError(f"{self._path} cannot be imported; a plugin file ends in .py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module
