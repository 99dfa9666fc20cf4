"""The first thing to do after installing: build a robot, time its operations, compare with the reference."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grid_backends.numpy import RobotHandle
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.manager import load_catalogue
from grid_rbd.measure import reference_error, time_algorithm
from grid_rbd.registering import register_robot

TOLERANCES = {"float32": 2e-4, "float64": 1e-10}
"""Largest error of each dtype, relative to the largest entry of a result."""

TRIED = "dynamics"
"""What is tried unless more is asked for: a profile that compiles in seconds."""

COMPARED = 64
"""Samples that are compared with the reference, which is slow."""

OnOperation = Callable[[str, int, int], None]
"""``on_operation(algorithm, number, total)`` before each measurement."""


@dataclass(frozen=True)
class Operation:
    """One operation in one dtype: nanoseconds per sample and error against the reference."""

    algorithm: str
    dtype: str
    nanoseconds: float
    error: float

    @property
    def agrees(self) -> bool:
        """Whether the error is within :data:`TOLERANCES`; NaN is not."""
        return self.error <= TOLERANCES[self.dtype]


@dataclass(frozen=True)
class Trial:
    """What a trial found.

    Attributes
    ----------
    robot : RobotHandle
        The robot in the first dtype, for its names and sizes.
    batch : int
    operations : tuple of Operation
    build_seconds, measure_seconds : float
    """

    robot: RobotHandle
    batch: int
    operations: tuple[Operation, ...]
    build_seconds: float
    measure_seconds: float

    @property
    def agrees(self) -> bool:
        return all(operation.agrees for operation in self.operations)


def try_robot(
    description: Path,
    *,
    batch: int = 1024,
    floating_base: bool = False,
    algorithms: str | Sequence[str] | None = TRIED,
    cache_dir: str | Path | None = None,
    plugins: Sequence[str | Path] = (),
    on_operation: OnOperation | None = None,
) -> Trial:
    """Build a robot for every dtype, and measure all of its operations with one thread.

    Parameters
    ----------
    description : path
        URDF file.
    batch : int
        Samples per timed call.
    floating_base, algorithms, cache_dir, plugins
        As for :func:`~grid_rbd.register_robot`.
    on_operation : callable, optional
        Told of the progress, see :data:`OnOperation`.

    Raises
    ------
    GridError
        As :func:`~grid_rbd.register_robot`.
    """
    options = {"floating_base": floating_base, "algorithm_list": algorithms, "plugins": plugins, "cache_dir": cache_dir}

    def robot(dtype: str, device: str) -> RobotHandle:
        name = f"try-{description.stem}-{dtype if device == 'cpu' else device}"
        return register_robot(name, description, dtype=dtype, device=device, threads=1, **options)  # type: ignore[arg-type]

    began = time.perf_counter()
    handles = {dtype: robot(dtype, "cpu") for dtype in TOLERANCES}
    reference = robot("float64", "reference")
    built = time.perf_counter()
    chosen = _chosen(algorithms, plugins, reference)
    operations = []
    for number, algorithm in enumerate(chosen, 1):
        if on_operation is not None:
            on_operation(algorithm.name, number, len(chosen))
        operations += [_measured(handle, reference, algorithm, batch) for handle in handles.values()]
    return Trial(
        next(iter(handles.values())), batch, tuple(operations), built - began, time.perf_counter() - built
    )  # fmt: skip


def _chosen(
    algorithms: str | Sequence[str] | None, plugins: Sequence[str | Path], robot: RobotHandle
) -> list[Algorithm]:
    """Return the algorithms of a trial that its robots hold; those may hold more, from earlier trials."""
    catalogue = load_catalogue(tuple(str(Path(file).resolve()) for file in plugins))
    names, built = catalogue.closure(catalogue.select(algorithms)), robot.capabilities()
    return [catalogue.algorithms[name] for name in names if built[name]["built"]]


def _measured(handle: RobotHandle, reference: RobotHandle, algorithm: Algorithm, batch: int) -> Operation:
    error = reference_error(handle, reference, algorithm, min(batch, COMPARED))
    return Operation(algorithm.name, handle.dtype, time_algorithm(handle, algorithm, batch), error)
