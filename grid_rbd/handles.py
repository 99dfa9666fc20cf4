"""Makes handles from robot entries."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_backends.numpy import CudaHandle, ReferenceFunctions, RobotHandle, RobotRecord, UnitFunctions
from grid_backends.numpy.functions import open_function
from grid_backends.numpy.record import Call, FunctionProvider
from grid_core.build import RobotRequest, build, make_plan
from grid_core.build.entry import RobotEntry, UnitPaths, verified_unit
from grid_core.build.options import BuildOptions
from grid_core.build.record import usable_record
from grid_core.errors import CompileError, GridError, StaleRobotError, ToolchainError
from grid_core.model import Model
from grid_core.plugins.catalogue import Catalogue
from grid_store import CorruptEntryError, Store


def record_of(
    name: str,
    model: Model,
    catalogue: Catalogue,
    facts: Mapping[str, Any],
    *,
    options: BuildOptions,
    algorithms: tuple[str, ...],
) -> RobotRecord:
    """Return what a handle needs to know of a robot; ``facts`` come from the stored record."""
    return RobotRecord(
        name,
        model,
        catalogue.algorithms,
        algorithms,
        options.dtype,
        str(facts.get("device", "cpu")),
        options.settings,
        int(facts.get("max_batch", 256)),
        facts,
    )


def compiled_handle(entry: RobotEntry, catalogue: Catalogue) -> RobotHandle:
    """Return a handle on the stored units of a robot."""
    record = record_of(
        entry.name, entry.model, catalogue, entry.record["facts"],
        options=entry.options, algorithms=tuple(entry.units),
    )  # fmt: skip
    return _handle(record, UnitFunctions(record, entry.units))


def lazy_handle(
    name: str, model: Model, request: RobotRequest, facts: Mapping[str, Any], store: Store, built: UnitPaths
) -> RobotHandle:
    """Return a handle that compiles the unit of each algorithm when it is first called, unless it is built."""
    record = record_of(
        name,
        model,
        request.catalogue,
        facts,
        options=request.options,
        algorithms=tuple(request.catalogue.algorithms),
    )
    return _handle(record, _LazyUnits(record, request, store, built))


def reference_handle(name: str, model: Model, request: RobotRequest, facts: Mapping[str, Any]) -> RobotHandle:
    """Return a handle that interprets kernels with NumPy in float64; it needs no compiler."""
    record = record_of(
        name, model, request.catalogue, {**facts, "device": "reference"},
        options=request.options, algorithms=request.algorithms,
    )  # fmt: skip
    return RobotHandle(record, ReferenceFunctions(record, _Interpreter(model, request)))


def adjusted(handle: RobotHandle, output_convention: str, threads: int | None) -> RobotHandle:
    """Apply to a handle what a caller asked for and no record keeps."""
    if threads is not None:
        handle.threads = threads
    handle.output_convention = output_convention
    return handle


def _handle(record: RobotRecord, functions: FunctionProvider) -> RobotHandle:
    return CudaHandle(record, functions) if record.device.startswith("cuda") else RobotHandle(record, functions)


class _LazyUnits:
    """Builds the unit of an algorithm at its first use; an algorithm is built once however many threads ask."""

    def __init__(self, record: RobotRecord, request: RobotRequest, store: Store, built: UnitPaths) -> None:
        self._record = record
        self._request = request
        self._store = store
        self._built = built
        self._lock = threading.Lock()
        self._leases: list[Any] = []

    def get(self, name: str) -> Call | None:
        if name not in self._record.declarations:
            return None
        return open_function(self._path(name), self._record, name)

    def _path(self, name: str) -> Path:
        try:
            return self._built.get(name) or self._build(name)
        except (CorruptEntryError, StaleRobotError) as lost:
            return self._build_again(name, lost)

    def _build_again(self, name: str, lost: GridError) -> Path:
        """Build a unit that is damaged or gone; without a compiler, that is what matters to the user."""
        try:
            return self._build(name)
        except CompileError:
            raise
        except ToolchainError as error:
            raise lost from error

    def _build(self, name: str) -> Path:
        with self._lock:
            request = replace(self._request, algorithms=(name,))
            entry = build(make_plan(request, self._store), self._store)[name]
            self._leases.append(self._store.lease(entry.key))
            self._remember(name, entry.key)
        return verified_unit(entry)

    def _remember(self, algorithm: str, key: str) -> None:
        """Add a unit to the robot's record: collection then keeps it, and it is found without a compiler."""
        record = usable_record(self._record.name, self._store)
        if record and record["request"] == self._request.identity().digest:
            self._store.bind(self._record.name, {**record, "units": {**record["units"], algorithm: key}})


class _Interpreter:
    """Evaluates algorithms by name, tracing each once for every choice of inputs that change what is computed."""

    def __init__(self, model: Model, request: RobotRequest) -> None:
        self._model = model
        self._request = request
        self._kernels: dict[tuple[str, frozenset[str]], Any] = {}

    def __call__(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        from grid_core.kernel import evaluate, trace_algorithm
        from grid_core.kernel.builder import variants

        algorithms, settings = self._request.catalogue.algorithms, self._request.options.settings
        absent = max((without for without in variants(algorithms[name]) if not without & arrays.keys()), key=len)
        kernel = self._kernels.get((name, absent))
        if kernel is None:
            kernel = trace_algorithm(algorithms[name], self._model, algorithms, settings, absent)
            self._kernels[name, absent] = kernel
        return evaluate(kernel, arrays)
