"""A request: a description, what to build from it, and for which target. Plain data, equal requests have equal keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid_core.build.options import BuildOptions
from grid_core.build.targets import Target, target_of
from grid_core.errors import OptionError
from grid_core.model.xml_source import Source, read_source
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.catalogue import Catalogue
from grid_core.plugins.manager import load_catalogue
from grid_core.plugins.sources import core_digest
from grid_core.toolchains.levels import detect_level
from grid_store import Key

SCHEMA = 1
"""Raised when keys or records change their meaning."""


@dataclass(frozen=True)
class RobotRequest:
    """What a user asks for.

    Attributes
    ----------
    source : Source
        The URDF as it was read; its label is for messages and not part of any key.
    options : BuildOptions
    algorithms : tuple of str
        Algorithms to build, closed over their requirements, in declaration order.
    level : str
        Target and instruction set: a level of the CPU, or ``sm_90`` and its like for CUDA.
    compiler : str or None
        Compiler command; ``None`` looks for one.
    plugin_files : tuple of str
        Local plugin files.
    products : tuple of Algorithm
        Algorithms beside those of the plugins, which follow from them (:mod:`grid_core.kernel.derivative`).
    """

    source: Source
    options: BuildOptions
    algorithms: tuple[str, ...]
    level: str
    compiler: str | None = None
    plugin_files: tuple[str, ...] = ()
    products: tuple[Algorithm, ...] = ()

    @property
    def target(self) -> Target:
        return target_of(self.level)

    @property
    def catalogue(self) -> Catalogue:
        known = load_catalogue(self.plugin_files)
        return known.including(self.products) if self.products else known

    @property
    def units(self) -> tuple[str, ...]:
        """The algorithms that have a unit, in order; the others only call some of these."""
        return tuple(name for name in self.algorithms if self.catalogue.algorithms[name].emit is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the request as JSON values; bytes of the description that are no UTF-8 stand as lone surrogates."""
        assert not self.products, "products follow from the algorithms that name them"
        return {
            "description": self.source.data.decode("utf-8", "surrogateescape"),
            "label": self.source.label,
            "options": self.options.to_json(),
            "algorithms": list(self.algorithms),
            "level": self.level,
            "compiler": self.compiler,
            "plugin_files": list(self.plugin_files),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RobotRequest:
        source = Source(values["description"].encode("utf-8", "surrogateescape"), values["label"])
        options, algorithms = BuildOptions.from_json(values["options"]), tuple(values["algorithms"])
        return cls(source, options, algorithms, values["level"], values["compiler"], tuple(values["plugin_files"]))

    def model_key(self) -> Key:
        """Return the key of the parsed model."""
        return Key(
            {
                "schema": SCHEMA,
                "kind": "model",
                "description": self.source.data,
                "floating_base": self.options.floating_base,
                "follow_mimic": self.options.follow_mimic,
                "core": core_digest(),
            }
        )

    def identity(self) -> Key:
        """Return the key of the whole request, compiler left out: what a stored robot is compared with."""
        return Key(
            {
                "schema": SCHEMA,
                "description": self.source.data,
                "options": self.options.to_json(),
                "algorithms": list(self.algorithms),
                "core": core_digest(),
                "plugins": {name: self.catalogue.digests(name) for name in self.algorithms},
                "level": self.target.identity(self.level),
            }
        )

    def unit_key(self, algorithm: str, compiler: dict[str, str]) -> Key:
        """Return the input key of one unit; nothing is generated for it."""
        return Key(
            {
                "schema": SCHEMA,
                "target": self.target.name,
                "description": self.source.data,
                "options": self.options.to_json(),
                "algorithm": algorithm,
                "core": core_digest(),
                "plugins": self.catalogue.digests(algorithm),
                "level": self.target.identity(self.level),
                "compiler": compiler,
            }
        )


def make_request(
    source: str | Path | bytes | Source,
    options: BuildOptions,
    *,
    algorithm_list: str | Sequence[str] | None = None,
    level: str | None = None,
    compiler: str | None = None,
    plugin_files: Sequence[str | Path] = (),
) -> RobotRequest:
    """Read a description and resolve what is to be built from it.

    Raises
    ------
    FileNotFoundError
        There is no such description.
    OptionError
        An algorithm, profile or level is unknown.
    """
    files = tuple(str(Path(file).resolve()) for file in plugin_files)
    catalogue = load_catalogue(files)
    if not catalogue.algorithms:
        raise OptionError(
            "no plugin provides any algorithm; reinstall grid-rbd, or see 'grid-rbd plugins' for broken plugins"
        )
    level = level or detect_level()
    target_of(level).identity(level)
    algorithms = catalogue.closure(catalogue.select(algorithm_list, options.settings))
    return RobotRequest(read_source(source), options, algorithms, level, compiler, files)
