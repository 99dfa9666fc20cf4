"""All declared algorithms: look-up by name, profiles, and the closure over dependency edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.errors import OptionError, PluginError, nearest
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.callees import check_callees
from grid_core.plugins.header import HeaderSection

if TYPE_CHECKING:
    from grid_core.kernel.settings import TraceSettings


@dataclass(frozen=True)
class Plugin:
    """A loaded plugin: where it comes from, the digest of its sources, and the file of its module."""

    name: str
    version: str
    origin: str
    digest: str
    template_folders: tuple[str, ...] = ()
    sections: tuple[HeaderSection, ...] = ()
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.origin})"


@dataclass(frozen=True)
class BrokenPlugin:
    """A plugin that could not be loaded, and why."""

    name: str
    origin: str
    reason: str

    @property
    def is_named(self) -> bool:
        """Whether it is a file that somebody named, and not installed: its origin is a path."""
        return Path(self.origin).is_absolute()


@dataclass(frozen=True)
class Catalogue:
    """What the plugins of this process declare.

    Attributes
    ----------
    algorithms : mapping of str to Algorithm
    providers : mapping of str to Plugin
        The plugin behind each algorithm.
    plugins, broken : tuple
    """

    algorithms: Mapping[str, Algorithm]
    providers: Mapping[str, Plugin]
    plugins: tuple[Plugin, ...]
    broken: tuple[BrokenPlugin, ...] = ()

    def __post_init__(self) -> None:
        for name in self.algorithms:
            self._visit(name, [])
        for algorithm in self.algorithms.values():
            check_callees(algorithm, self.algorithms)

    @cached_property
    def profiles(self) -> dict[str, tuple[str, ...]]:
        """Named sets of algorithms; ``"all"`` holds every one that is not to be named."""
        found: dict[str, list[str]] = {"all": [a.name for a in self.algorithms.values() if not a.opt_in]}
        for algorithm in self.algorithms.values():
            for profile in algorithm.profiles:
                found.setdefault(profile, []).append(algorithm.name)
        return {name: tuple(members) for name, members in sorted(found.items())}

    @cached_property
    def names(self) -> dict[str, str]:
        """Algorithm names and aliases, each with the name it stands for."""
        aliases = {alias: a.name for a in self.algorithms.values() for alias in a.aliases}
        return aliases | {name: name for name in self.algorithms}

    def select(self, request: str | Sequence[str] | None, settings: TraceSettings | None = None) -> tuple[str, ...]:
        """Return the algorithms that a request names, in declaration order.

        A request lists algorithms, aliases and profiles, also as one string with commas or semicolons. Case, dashes and
        underscores do not matter; an exact profile spelling wins, then algorithms, then profiles. ``None`` means all.
        With ``settings``, profiles leave out what needs an option that is not given, and naming it is an error.
        """
        if request is None:
            request = "all"
        words = [word.strip() for word in _words(request) if word.strip()]
        if not words:
            raise OptionError(
                "algorithm_list is empty; name at least one algorithm or profile, or leave it out for all"
            )
        chosen: set[str] = set()
        for word in words:
            named, members = self._meaning(word)
            lacking = {name: missing for name in members if (missing := self._lacking(name, settings))}
            if named and lacking:
                raise OptionError(f"{word!r} needs {lacking[members[0]]}; give that option, or leave {word!r} out")
            chosen.update(name for name in members if name not in lacking)
        return tuple(name for name in self.algorithms if name in chosen)

    def _lacking(self, name: str, settings: TraceSettings | None) -> str:
        """Return the option that an algorithm needs and settings lack, or nothing."""
        needs = () if settings is None else self.algorithms[name].needs
        return next((option for option in needs if not getattr(settings, option)), "")

    def _meaning(self, word: str) -> tuple[bool, tuple[str, ...]]:
        """Return whether a word names one algorithm, and the algorithms that it stands for."""
        if word in self.profiles:
            return False, self.profiles[word]
        plain = _plain(word)
        for name, target in self.names.items():
            if _plain(name) == plain:
                return True, (target,)
        for name, members in self.profiles.items():
            if _plain(name) == plain:
                return False, members
        known = [*self.names, *self.profiles]
        raise OptionError(
            f"unknown algorithm or profile {word!r}{nearest(plain, known)}; algorithms: {', '.join(self.algorithms)}; "
            f"profiles: {', '.join(self.profiles)}"
        )

    def closure(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names with everything that they require, in declaration order."""
        reached: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending.extend(self.algorithms[name].requires)
        return tuple(name for name in self.algorithms if name in reached)

    def including(self, products: Sequence[Algorithm]) -> Catalogue:
        """Return a catalogue that also has algorithms which follow from its own, each from what it requires first."""
        algorithms, providers = dict(self.algorithms), dict(self.providers)
        for product in products:
            algorithms[product.name] = product
            providers[product.name] = providers[product.requires[0]]
        return Catalogue(algorithms, providers, self.plugins, self.broken)

    def digests(self, name: str) -> dict[str, str]:
        """Return the source digests of the plugins that contribute to an algorithm, by plugin name."""
        found: dict[str, set[str]] = {}
        for contributor in self.closure([name]):
            plugin = self.providers[contributor]
            found.setdefault(plugin.name, set()).add(plugin.digest)
        return {
            plugin: "+".join(sorted(found[plugin])) for plugin in sorted(found)
        }  # a file may share a package's name

    def template_folders(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the template folders for algorithms: those of their own plugins, which are part of their keys."""
        return tuple(dict.fromkeys(folder for name in names for folder in self.providers[name].template_folders))

    def sections(
        self, names: Iterable[str], chosen: Mapping[str, bool] | None = None
    ) -> tuple[tuple[Plugin, HeaderSection], ...]:
        """Return the sections of a header that has the named algorithms, each with the plugin that writes it.

        ``chosen`` says of plugins, by name, whether their sections are there whatever algorithms are.
        """
        present, chosen = set(names), chosen or {}
        return tuple(
            (p, s) for p in self.plugins for s in p.sections if chosen.get(p.name, bool(present & set(s.algorithms)))
        )

    def _visit(self, name: str, path: list[str]) -> None:
        if name in path:
            cycle = [*path[path.index(name) :], name]
            raise PluginError(
                f"algorithms require each other in a circle: {' -> '.join(cycle)}; remove one of the edges"
            )
        for required in self.algorithms[name].requires:
            if required not in self.algorithms:
                raise PluginError(
                    f"{name!r} of {self.providers[name]} requires {required!r}, which no plugin provides"
                    f"{nearest(required, self.algorithms)}; install the plugin that provides it"
                )
            self._visit(required, [*path, name])


def _words(request: Any) -> list[str]:
    if isinstance(request, str):
        return request.replace(";", ",").split(",")
    if not isinstance(request, Sequence) or not all(isinstance(word, str) for word in request):
        raise OptionError(f"algorithm_list is {request!r}, expected names of algorithms and profiles")
    return list(request)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
