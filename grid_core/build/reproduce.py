"""Compiling again what is stored, to see that the same comes out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from grid_core.build.models import read_model, stored_model
from grid_core.build.plan import Plan, UnitPlan
from grid_core.build.unit import render_unit
from grid_core.model import Model
from grid_core.toolchains import run_all, worker_count
from grid_store import Entry, FileRecord, Scratch, Store
from grid_store.digest import file_digest


@dataclass(frozen=True)
class Comparison:
    """A unit that was compiled again.

    Attributes
    ----------
    algorithm : str
    outcome : str
        ``"same"``; ``"differs"``; ``"missing"`` if nothing is stored that could be compared.
    files : tuple of str
        The files that differ.
    """

    algorithm: str
    outcome: str
    files: tuple[str, ...] = ()


def check_build(plan: Plan, store: Store) -> list[Comparison]:
    """Compile every stored unit of a plan again, in temporary folders, and compare all files; the store stays as it is.

    Raises
    ------
    CompileError
        A compiler failed.
    """
    model = read_model(stored_model(plan.request, store))
    return run_all([partial(_compared, plan, unit, model) for unit in plan.units], worker_count(len(plan.units)))


def _compared(plan: Plan, unit: UnitPlan, model: Model) -> Comparison:
    if unit.entry is None:
        return Comparison(unit.algorithm, "missing")
    scratch = Scratch("check")
    try:
        render_unit(plan.request, plan.compiler, unit.algorithm, model).compile(scratch.folder)
        files = _differing(unit.entry, _records(scratch))
    finally:
        scratch.remove()
    return Comparison(unit.algorithm, "differs" if files else "same", files)


def _records(scratch: Scratch) -> dict[str, FileRecord]:
    return {
        path.name: FileRecord(path.stat().st_size, file_digest(path))
        for path in scratch.folder.iterdir()
        if not path.name.startswith(".")
    }


def _differing(entry: Entry, made: dict[str, FileRecord]) -> tuple[str, ...]:
    return tuple(sorted(name for name in {*entry.files, *made} if entry.files.get(name) != made.get(name)))
