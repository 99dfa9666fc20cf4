"""Builds an artifact: its sources side by side, each kept by what it is made from, then the library."""

from __future__ import annotations

import logging
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

from grid_consumers.artifact import ConsumerArtifact, hold_artifact
from grid_consumers.places import Places
from grid_consumers.plan import ArtifactPlan, Contents, UnitPlan, generated_contents
from grid_consumers.record import kept_record, make_record
from grid_core.build.header import HEADER
from grid_core.build.workplace import move_built, workplace
from grid_core.toolchains import run_all, worker_count
from grid_core.toolchains.process import printed
from grid_core.toolchains.project import OBJECT
from grid_store import Entry, EntryMissingError, PublishError, Store

_log = logging.getLogger("grid_rbd.consumers")


def build(plan: ArtifactPlan, store: Store, *, force: bool = False) -> ConsumerArtifact:
    """Build an artifact unless the store or one of its tiers has it, and let its name mean the result.

    Raises
    ------
    URDFParseError
        The description is not valid.
    CompileError
        A compiler failed, on a source or on the link; nothing was published.
    PublishError
        A file was edited while it was compiled.
    """
    try:
        return _build(plan, store, force=force)
    except EntryMissingError:  # a collection took it before its name kept it, which the name does now
        return _build(plan, store, force=False)


def _build(plan: ArtifactPlan, store: Store, *, force: bool) -> ConsumerArtifact:
    contents = generated_contents(plan, store)
    build_once = _Build(plan, contents, store, force)
    if not force and store.get(contents.key.digest) is None:
        store.fetch(contents.key)
    entry = store.obtain(contents.key, build_once, force=force)
    recipe = plan.recipe
    if build_once.ran:
        store.record(contents.key, entry.key, artifact=recipe.name)
    facts = _facts(plan, contents.header)
    record = kept_record(make_record(entry, plan.input_key, contents.own_files(), facts), recipe, store)
    return hold_artifact(recipe.consumer, recipe.name, entry, record, store, compiled=build_once.ran)


class _Build:
    """Produces the entry of an artifact, and remembers whether it had to."""

    def __init__(self, plan: ArtifactPlan, contents: Contents, store: Store, force: bool) -> None:
        self._plan = plan
        self._contents = contents
        self._store = store
        self._force = force
        self.ran = False

    def __call__(self, folder: Path) -> dict[str, Any]:
        self.ran = True
        began, recipe = time.perf_counter(), self._plan.recipe
        jobs = [partial(self._object, unit) for unit in self._contents.units]
        objects = run_all(jobs, worker_count(len(jobs)))
        with workplace(f"{recipe.consumer}-link") as work:
            self._plan.project.build_library(objects, recipe.link_flags, recipe.artifact_name, work)
            shutil.copyfile(self._contents.header.path(HEADER), work / HEADER)
            move_built(work, folder, (recipe.artifact_name, HEADER))
        return {"kind": "artifact", "seconds": round(time.perf_counter() - began, 3)}

    def _object(self, unit: UnitPlan) -> Path:
        """Return the object of a source."""
        return self._store.obtain(unit.key, partial(self._compile, unit), force=self._force).verified(OBJECT)

    def _compile(self, unit: UnitPlan, folder: Path) -> dict[str, Any]:
        plan, places = self._plan, Places(self._contents.header, self._plan.recipe.include_dirs)
        began = time.perf_counter()
        with workplace(f"{plan.recipe.consumer}-{unit.source.stem}") as work:
            read = plan.project.compile(unit.source, [*plan.options, *places.options], work)
            if changed := set(read) ^ set(unit.read):
                raise PublishError(
                    f"what {unit.source.name} includes changed while it was compiled ({', '.join(map(str, changed))}): "
                    "build again"
                )
            if said := printed(work / "build.log"):
                _log.warning("the compiler says of %s:\n%s", unit.source, said)
            move_built(work, folder, (OBJECT,))
        return {"kind": "object", "source": unit.source.name, "seconds": round(time.perf_counter() - began, 3)}


def _facts(plan: ArtifactPlan, header: Entry) -> dict[str, Any]:
    """Return what the record of an artifact says beside its keys."""
    request = plan.request
    return {
        "artifact": plan.recipe.artifact_name,
        "sources": [source.name for source in plan.recipe.sources],
        "level": request.level,
        "level_identity": request.target.identity(request.level),
        "dtype": request.options.dtype,
        "options": request.options.to_json(),
        "robot": {name: value for name, value in header.meta.items() if name != "kind"},
        "compiler": plan.compiler.identity(),
    }
