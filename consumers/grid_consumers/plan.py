"""Plans: what an artifact is made from, and whether it is there already. Nothing is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from grid_consumers.artifact import compute_of
from grid_consumers.places import Places, digests_of_own
from grid_consumers.recipe import Recipe
from grid_consumers.record import SCHEMA, changes, usable_record
from grid_core.build.builder import check_options
from grid_core.build.compilers import Compiler, compiler_for
from grid_core.build.header import HEADER, header_key, stored_header
from grid_core.build.models import parsed
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
        with workplace(f"{self.recipe.consumer}-scan") as work:
            read = self.project.scan(source, [*self.options, *places.options], work)
        files = places.labelled(source, read)
        components = {**self._machine("consumer unit"), "files": files, "flags": [*self.project.code, *self.options]}
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
        "defines": list(recipe.defines),
        "extra_flags": list(recipe.extra_flags),
        "link_flags": list(recipe.link_flags),
        "artifact_name": recipe.artifact_name,
    }
    return ArtifactPlan(recipe, request, compiler, sections, Key(components))


def plan_report(plan: ArtifactPlan, store: Store) -> dict[str, Any]:
    """Return what ``plan_only`` tells. The header is not generated: until it was, the content is not known."""
    recipe, request = plan.recipe, plan.request
    contents = _known_contents(plan, store)
    entry = store.get(contents.key.digest, verify=True) if contents else None
    reasons = [] if entry else _reasons(plan, contents, store)
    step = "compile" if contents else "generate+compile"
    return {
        "consumer": recipe.consumer,
        "name": recipe.name,
        "cache_dir": str(store.root),
        "cuda_arch": compute_of(request.level),
        "code_options": request.options.to_json(),
        "identity": {"compiler": plan.compiler.identity(), "level": request.level},
        "input_key": plan.input_key.digest,
        "sources": [str(source) for source in recipe.sources],
        "headers": [str(header) for header in recipe.headers],
        "defines": list(recipe.defines),
        "content_key": contents.key.digest if contents else None,
        "cached": entry is not None,
        "stale_reasons": reasons or None,
        "store_dir": str(entry.directory) if entry else None,
        "would": "load" if entry else f"{step} ({'; '.join(reasons) or 'it has not been built before'})",
    }


def _known_contents(plan: ArtifactPlan, store: Store) -> Contents | None:
    """Return what is compiled if the header is there; check the robot if it is not."""
    header = store.get(header_key(plan.request, plan.sections).digest, verify=True)
    if header is None:
        check_options(plan.request, parsed(plan.request))
        return None
    return plan.contents(header)


def generated_contents(plan: ArtifactPlan, store: Store) -> Contents:
    """Return what is compiled, generating the header if need be."""
    return plan.contents(stored_header(plan.request, store, plan.sections))


def _reasons(plan: ArtifactPlan, contents: Contents | None, store: Store) -> list[str]:
    record = usable_record(plan.recipe.consumer, plan.recipe.name, store)
    if record is None:
        return []
    found = changes(record, plan.input_key, contents.own_files() if contents else None)
    return found or ["its files are damaged or no longer in the store"]
