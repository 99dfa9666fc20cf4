"""Builds what a plan lacks: traces and renders each unit, compiles units side by side, and stores them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.build.compilers import Compiler
from grid_core.build.models import read_model, stored_model
from grid_core.build.plan import Plan, UnitPlan, stored_unit
from grid_core.build.request import RobotRequest
from grid_core.build.unit import render_unit
from grid_core.errors import OptionError
from grid_core.toolchains import run_all, worker_count
from grid_store import Entry, Key, Store

if TYPE_CHECKING:
    from grid_core.model import Model


@dataclass(frozen=True)
class Event:
    """Something that happened in a build: ``phase`` is ``"start"`` or ``"done"`` of one algorithm's unit."""

    phase: str
    algorithm: str
    number: int
    total: int
    seconds: float = 0.0
    compiled: bool = True


Progress = Callable[[Event], None]


def build(plan: Plan, store: Store, *, force: bool = False, progress: Progress | None = None) -> dict[str, Entry]:
    """Build the missing units of a plan (all with ``force``) and return one entry per algorithm.

    Raises
    ------
    URDFParseError
        The description is not valid.
    CompileError
        A compiler failed; units that were finished stay in the store.
    """
    entries = {unit.algorithm: unit.entry for unit in plan.units if unit.entry and not force}
    pending = _longest_first(plan, [unit for unit in plan.units if unit.algorithm not in entries])
    model = read_model(stored_model(plan.request, store))
    check_options(plan.request, model)
    report = _Report(progress, len(pending))
    jobs = [partial(_build_reported, plan, unit, model, store, force, report) for unit in pending]
    if jobs:
        built = run_all(jobs, worker_count(len(jobs)))
        entries |= {unit.algorithm: entry for unit, entry in zip(pending, built)}
    return {algorithm: entries[algorithm] for algorithm in plan.request.units}


def _longest_first(plan: Plan, units: Sequence[UnitPlan]) -> list[UnitPlan]:
    """Sort units so that those which contain the most others come first: they compile longest."""
    closure = plan.request.catalogue.closure
    return sorted(units, key=lambda unit: -len(closure([unit.algorithm])))


def check_options(request: RobotRequest, model: Model) -> None:
    """Raise unless the options fit the robot: friction widths by number, frames by name."""
    settings = request.options.settings
    width = settings.friction_width
    if isinstance(width, tuple) and len(width) != model.nv:
        raise OptionError(
            f"friction_width has {len(width)} values; give one number, or one per velocity slot (nv = {model.nv})"
        )
    settings.end_effector_frames(model)
    for option, frames, why in (
        ("contact_frames", settings.contacts(model), "no wrench moves the robot"),
        ("cost_frames", settings.cost_targets(model)[1:], "nothing that the robot does changes a cost"),
    ):
        for frame in frames:
            if frame.body < 0:
                raise OptionError(f"{option}: {frame.name!r} is fixed to the world, where {why}")


class _Report:
    """Numbers the units of a build as they start."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._started = 0

    def start(self, algorithm: str) -> int:
        self._started += 1
        self._send(Event("start", algorithm, self._started, self._total))
        return self._started

    def done(self, algorithm: str, number: int, seconds: float, compiled: bool) -> None:
        self._send(Event("done", algorithm, number, self._total, seconds, compiled))

    def _send(self, event: Event) -> None:
        if self._progress is not None:
            self._progress(event)


def _build_reported(plan: Plan, unit: UnitPlan, model: Model, store: Store, force: bool, report: _Report) -> Entry:
    began, number = time.perf_counter(), report.start(unit.algorithm)
    entry, compiled = build_unit(plan.request, plan.compiler, unit.algorithm, unit.input_key, model, store, force=force)
    report.done(unit.algorithm, number, time.perf_counter() - began, compiled)
    return entry


def build_unit(
    request: RobotRequest,
    compiler: Compiler,
    algorithm: str,
    input_key: Key,
    model: Model,
    store: Store,
    *,
    force: bool = False,
) -> tuple[Entry, bool]:
    """Build one unit unless the store or one of its tiers has it; return its entry and whether a compiler ran."""
    if not force and (found := stored_unit(input_key, store) or store.fetch(input_key)):
        return found, False
    unit, compiled = render_unit(request, compiler, algorithm, model), False

    def produce(folder: Path) -> dict[str, Any]:
        nonlocal compiled
        compiled = True
        return unit.compile(folder)

    entry = store.obtain(unit.key(), produce, force=force)
    store.record(input_key, entry.key, algorithm=algorithm)
    return entry, compiled
