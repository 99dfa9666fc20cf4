"""Builds what a plan lacks: traces and renders each unit, compiles units side by side, and stores them."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.build.compilers import Compiler
from grid_core.build.models import read_model, stored_model
from grid_core.build.plan import Plan, UnitPlan
from grid_core.build.request import SCHEMA, RobotRequest
from grid_core.build.targets import UnitInputs
from grid_core.errors import CompileError, OptionError
from grid_core.toolchains import run_all, worker_count
from grid_core.toolchains.process import stopped
from grid_store import Entry, Key, Scratch, Store, StoreWriteError

if TYPE_CHECKING:
    from grid_core.model import Model

HEADERS = (".hpp", ".h", ".cuh")


@dataclass(frozen=True)
class Event:
    """Something that happened in a build: ``phase`` is ``"start"`` or ``"done"`` of one algorithm's unit."""

    phase: str
    algorithm: str
    number: int
    total: int
    seconds: float = 0.0
    compiled: bool = True


_rendering = threading.Lock()
"""Python runs one thread at a time anyway; one unit after the other, so that the first ones compile meanwhile."""

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
    """Build one unit; return its entry and whether a compiler ran."""
    from grid_core.codegen.render import RUNTIME

    catalogue, target = request.catalogue, request.target
    folders = catalogue.template_folders([algorithm])
    declared = catalogue.algorithms
    inputs = UnitInputs(declared[algorithm], model, declared, request.options, folders, request.level)
    with _rendering:
        texts = target.render(inputs)
    key = Key(
        {
            "schema": SCHEMA,
            "source": texts,
            "runtime": [header for header in sorted(RUNTIME.iterdir()) if header.suffix in HEADERS],
            "flags": list(compiler.flags(request.level)),
            "level": target.identity(request.level),
            "compiler": compiler.identity(),
        }
    )
    compiled: list[bool] = []

    def produce(folder: Path) -> dict[str, Any]:
        compiled.append(True)
        return _compile(folder, texts, algorithm, request, compiler, RUNTIME)

    entry = store.obtain(key, produce, force=force)
    store.record(input_key, key.digest, algorithm=algorithm)
    return entry, bool(compiled)


def _compile(
    folder: Path, texts: dict[str, str], algorithm: str, request: RobotRequest, compiler: Compiler, runtime: Path
) -> dict[str, Any]:
    """Compile in a folder of its own, which stays for inspection if the compiler fails, and move the result."""
    began = time.perf_counter()
    target = request.target
    with _workplace(texts, algorithm) as work:
        unit = work / target.unit
        compiler.compile(work / target.source, unit, level=request.level, include=[runtime], log=work / "build.log")
        target.check_loadable(unit, request.level)
        _move(work, folder, (*texts, target.unit))
    return {
        "kind": "unit",
        "algorithm": algorithm,
        "dtype": request.options.dtype,
        "level": request.level,
        "seconds": round(time.perf_counter() - began, 3),
    }


@contextmanager
def _workplace(texts: dict[str, str], algorithm: str) -> Iterator[Path]:
    """Give a temporary folder with the sources. It stays if a compiler fails of itself, not if one is stopped."""
    scratch = _written(texts, algorithm)
    try:
        yield scratch.folder
    except CompileError:
        if stopped():
            scratch.remove()
        else:
            scratch.keep()
        raise
    except BaseException:
        scratch.remove()
        raise
    scratch.remove()


def _written(texts: dict[str, str], algorithm: str) -> Scratch:
    scratch = None
    try:
        scratch = Scratch(algorithm)
        for name, text in texts.items():
            (scratch.folder / name).write_text(text, "utf-8")
    except OSError as error:
        if scratch:
            scratch.remove()
        raise CompileError(
            f"the sources of {algorithm} cannot be written to {scratch.folder if scratch else 'a temporary folder'}: "
            f"{error}; free space there, or set TMPDIR to another folder"
        ) from error
    return scratch


def _move(work: Path, folder: Path, names: Sequence[str]) -> None:
    """Move what a build made into the store's ``folder``."""
    try:
        for name in names:
            shutil.move(str(work / name), folder / name)
    except OSError as error:
        raise StoreWriteError(
            f"the built unit cannot be moved to {folder}: {error}; free space there, or choose another folder as "
            "cache_dir or GRID_RBD_CACHE_DIR"
        ) from error
