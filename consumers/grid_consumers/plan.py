"""Plans: what an artifact is made from. Nothing is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from grid_consumers.places import Places, asks_what_exists, digests_of_own, is_own
from grid_consumers.recipe import Recipe
from grid_consumers.record import SCHEMA
from grid_core.build.compilers import Compiler, compiler_for
from grid_core.build.header import HEADER, header_key, stored_header
from grid_core.build.request import RobotRequest
from grid_core.build.workplace import workplace
from grid_core.codegen.render import SCALARS
from grid_core.toolchains import run_all, worker_count
from grid_core.toolchains.project import ProjectCompiler
from grid_store import Entry, Key, Store


@dataclass(frozen=True)
class UnitPlan:
    """One source.

    Attributes
    ----------
    source : Path
    read : tuple of Path
        The files that compiling it reads.
    key : Key
        Of the object that it becomes.
    own_files : mapping of str to str
        The digests of the project's files among them, by label.
    """

    source: Path
    read: tuple[Path, ...]
    key: Key
    own_files: Mapping[str, str]


@dataclass(frozen=True)
class Contents:
    """What is known of an artifact once its header exists.

    Attributes
    ----------
    header : Entry
    units : tuple of UnitPlan
    key : Key
        Of the artifact.
    """

    header: Entry
    units: tuple[UnitPlan, ...]
    key: Key

    def own_files(self) -> dict[str, str]:
        """Return the digests of the project's files that go into it, by label."""
        return {label: digest for unit in self.units for label, digest in unit.own_files.items()}


@dataclass(frozen=True)
class ArtifactPlan:
    """An artifact that somebody asked for.

    Attributes
    ----------
    recipe : Recipe
    request : RobotRequest
    compiler : Compiler
    sections : mapping of str to bool
        See :func:`~grid_core.build.header.header_text`.
    input_key : Key
        Of the request.
    """

    recipe: Recipe
    request: RobotRequest
    compiler: Compiler
    sections: Mapping[str, bool]
    input_key: Key

    @property
    def project(self) -> ProjectCompiler:
        return self.compiler.project(self.request.level)

    @property
    def options(self) -> list[str]:
        """The options of every source, folders left out."""
        scalar = SCALARS[self.request.options.dtype]
        defines = (f"-D{define}" for define in (f"GRID_SCALAR={scalar}", *self.recipe.defines))
        return [*defines, *self.recipe.extra_flags]

    def contents(self, header: Entry) -> Contents:
        """Ask the compiler what the sources include, and return the keys that follow.

        Raises
        ------
        CompileError
            An included file does not exist.
        """
        places = Places(header, self.recipe.include_dirs)
        jobs = [partial(self._unit, places, source) for source in self.recipe.sources]
        units = tuple(run_all(jobs, worker_count(len(jobs))))
        return Contents(header, units, self._key(header, units))

    def _unit(self, places: Places, source: Path) -> UnitPlan:
        options = [*self.options, *places.options]
        with workplace(f"{self.recipe.consumer}-scan") as work:
            read = self.project.scan(source, options, work)
            files = places.labelled(source, read)
            asks = any(asks_what_exists(file) for label, file in files.items() if is_own(label))
            expanded = {"preprocessed": self.project.preprocessed(source, options, work)} if asks else {}
        components = {
            **self._machine("consumer unit"),
            **expanded,
            "files": files,
            "flags": [*self.project.code, *self.options],
            "named_files": _numbered(self.recipe.named_files),
        }
        return UnitPlan(source, tuple(read), Key(components), digests_of_own(files))

    def _key(self, header: Entry, units: tuple[UnitPlan, ...]) -> Key:
        recipe = self.recipe
        return Key(
            {
                **self._machine("consumer artifact"),
                "units": [unit.key.digest for unit in units],
                "header": header.path(HEADER),
                "headers": _numbered(recipe.headers),
                "libraries": _numbered(recipe.libraries),
                "link": [*self.project.link, *recipe.link_flags],
                "artifact_name": recipe.artifact_name,
            }
        )

    def _machine(self, kind: str) -> dict[str, Any]:
        level = self.request.target.identity(self.request.level)
        return {"schema": SCHEMA, "kind": kind, "level": level, "compiler": self.compiler.identity()}


def _numbered(paths: Sequence[Path]) -> dict[str, Path]:
    return {f"{number}/{path.name}": path for number, path in enumerate(paths)}


def make_plan(recipe: Recipe, request: RobotRequest, sections: Mapping[str, bool], store: Store) -> ArtifactPlan:
    """Return the plan of an artifact.

    Raises
    ------
    ToolchainError
        There is no usable compiler.
    """
    compiler = compiler_for(request, store)
    components = {
        **header_key(request, sections).components,
        "schema": SCHEMA,
        "dtype": request.options.dtype,
        "level": request.target.identity(request.level),
        "compiler": compiler.identity(),
        "sources": {source.name: source for source in recipe.sources},
        "headers": _numbered(recipe.headers),
        "libraries": _numbered(recipe.libraries),
        "named_files": _numbered(recipe.named_files),
        "defines": list(recipe.defines),
        "extra_flags": list(recipe.extra_flags),
        "link_flags": list(recipe.link_flags),
        "artifact_name": recipe.artifact_name,
    }
    return ArtifactPlan(recipe, request, compiler, sections, Key(components))


def generated_contents(plan: ArtifactPlan, store: Store) -> Contents:
    """Return what is compiled, generating the header if need be."""
    return plan.contents(stored_header(plan.request, store, plan.sections))
