"""Makes handles from robot entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_backends.numpy import CudaHandle, ReferenceFunctions, RobotHandle, RobotRecord
from grid_backends.numpy.record import Call, FunctionProvider
from grid_core.build import RobotRequest
from grid_core.build.entry import RobotEntry, UnitPaths, recorded_request
from grid_core.build.options import BuildOptions
from grid_core.errors import OptionError
from grid_core.model import Model
from grid_core.plugins.catalogue import Catalogue
from grid_rbd.backends import framework_handle
from grid_rbd.on_demand import UnitsOnDemand
from grid_rbd.profiles import TunedFunctions, open_tuned
from grid_store import Store


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


def entry_record(entry: RobotEntry, catalogue: Catalogue) -> RobotRecord:
    """Return what a handle needs to know of a registered robot."""
    return record_of(
        entry.name, entry.model, catalogue, entry.record["facts"],
        options=entry.options, algorithms=tuple(entry.units),
    )  # fmt: skip


def compiled_handle(entry: RobotEntry, catalogue: Catalogue, backend: str = "numpy") -> RobotHandle:
    """Return a handle on the stored units of a robot."""
    record = entry_record(entry, catalogue)
    if backend != "numpy":
        store = entry.units.store
        return framework_handle(backend, record, recorded_request(entry.record, store), store, entry.units, lazy=False)
    return _handle(record, TunedFunctions(record, entry.units))


def lazy_handle(
    name: str,
    model: Model,
    request: RobotRequest,
    facts: Mapping[str, Any],
    store: Store,
    built: UnitPaths,
    backend: str = "numpy",
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
    if backend != "numpy":
        return framework_handle(backend, record, request, store, built, lazy=True)
    return _handle(record, _LazyFunctions(record, UnitsOnDemand(name, request, store, built), store))


def reference_handle(
    name: str, model: Model, request: RobotRequest, facts: Mapping[str, Any], backend: str = "numpy"
) -> RobotHandle:
    """Return a handle that interprets kernels with NumPy in float64; it needs no compiler.

    Raises
    ------
    OptionError
        The backend is another one, which calls compiled units.
    """
    if backend != "numpy":
        raise OptionError(
            f"robot {name!r}: backend={backend!r} calls compiled units, and device='reference' has none; use "
            "device='cpu', or backend='numpy'"
        )
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


class _LazyFunctions:
    """Functions of units that are built at their first use."""

    def __init__(self, record: RobotRecord, units: UnitsOnDemand, store: Store) -> None:
        self._record = record
        self._units = units
        self._store = store

    def get(self, name: str) -> Call | None:
        signature = self._record.signatures.get(name)
        if signature is None:
            return None
        return open_tuned(self._units.path(name), signature, self._record.device, self._store)


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
