"""Robots on a real GPU and beside it: what the tests of ``nox -s gpu`` share. All follows from declarations."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import grid_rbd
from grid_backends.numpy import CudaHandle, RobotHandle
from grid_core.model import URDFWarning
from grid_core.plugins.algorithm import Absent, Algorithm, resolve
from grid_core.plugins.manager import load_catalogue
from grid_rbd.samples import STEPS, sample_arguments
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, Robot

TOLERANCE = {"float32": 2e-3, "float64": 1e-9}
"""Largest difference of GPU and CPU, relative to the largest entry of a result. Double precision is the test; single
precision shows gross errors only."""


@dataclass(frozen=True)
class Case:
    """A robot with build options, and what its algorithms are compared with: compiled for the CPU, or interpreted."""

    robot: Robot
    profile: str = "all"
    against: str = "cpu"
    dtypes: tuple[str, ...] = ("float64",)
    options: Mapping[str, Any] = field(default_factory=dict)

    def algorithms(self) -> Iterator[str]:
        """Names of the profile that the options serve."""
        catalogue = load_catalogue(())
        for name in catalogue.profiles[self.profile]:
            if all(self.options.get(need) for need in catalogue.algorithms[name].needs):
                yield name


TABLES = {"runtime_inertia": True, "runtime_transform": True, "runtime_joint_dynamics": True}
CASES = {
    "every joint class": Case(MIXED["mixed fixed"], options={"contact_frames": ("j03", "j05")}),
    "every joint class on a free base": Case(MIXED["mixed floating"], dtypes=("float64", "float32")),
    "run-time tables": Case(GOLDEN["iiwa14"], "dynamics", options=TABLES),
    "quadruped": Case(GOLDEN["go2"], "dynamics", "reference", ("float32",)),
    "humanoid": Case(HUMANOIDS["humanoid29"], "dynamics", "reference", ("float32",)),
}


@cache
def opened(label: str, dtype: str, device: str) -> Any:
    """Return a handle of a case that builds each unit at its first call."""
    return _registered(label, dtype, device, lazy=True)


def build(label: str, dtype: str, device: str) -> None:
    """Build all units of a case side by side, so that those who open it later find them in the store."""
    _registered(label, dtype, device, algorithm_list=[*CASES[label].algorithms()])


def _registered(label: str, dtype: str, device: str, **how: Any) -> Any:
    case = CASES[label]
    urdf = case.robot.urdf
    source: dict[str, Any] = {"urdf_path": urdf} if isinstance(urdf, Path) else {"urdf_string": urdf}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", URDFWarning)
        return grid_rbd.register_robot(
            " ".join([label, dtype, device, *how]), **source, floating_base=case.robot.floating_base, dtype=dtype,
            device=device, **case.options, **how,
        )  # fmt: skip


def declared(name: str) -> Algorithm:
    return load_catalogue(()).algorithms[name]


def arguments(name: str, handle: RobotHandle, batch: int, *, full: bool = False, seed: int = 0) -> dict[str, Any]:
    """Draw arguments of a call; with ``full`` also those that may be left out, of which none is read.

    What has a default value, such as a damping, may have to be positive.
    """
    algorithm = declared(name)
    given = sample_arguments(algorithm, handle, batch, seed)
    if not full:
        return given
    generator = np.random.default_rng(seed + 1)
    for own in algorithm.inputs:
        if own.name in given or own.read is not None or not (own.absent is Absent.VARIANT or own.default is not None):
            continue
        steps = (STEPS,) if algorithm.scan is not None and own.name in algorithm.scan.along else ()
        shape = (batch, *steps, *resolve(own.shape, handle.dims))
        drawn = generator.standard_normal(shape) if own.default is None else generator.uniform(0.3, 1.0, shape)
        given[own.name] = (own.typical * drawn).astype(handle.dtype)
    return given


def part(given: Mapping[str, Any], rows: slice) -> dict[str, Any]:
    return {n: v[rows] if isinstance(v, np.ndarray) else v for n, v in given.items()}


def repeated(given: Mapping[str, Any], batch: int) -> dict[str, Any]:
    return {n: np.resize(v, (batch, *v.shape[1:])) if isinstance(v, np.ndarray) else v for n, v in given.items()}


def results(value: Any) -> tuple[np.ndarray, ...]:
    """Return what a call returned as NumPy arrays."""
    values = value if isinstance(value, tuple) else (value,)
    return tuple(v if isinstance(v, np.ndarray) else v.numpy() for v in values)


def difference(got: Any, expected: Any) -> float:
    """Return the largest difference relative to the largest entry, over all results; infinite for NaN."""
    worst = 0.0
    for a, b in zip(results(got), results(expected), strict=True):
        assert a.shape == b.shape
        if b.size:
            relative = np.abs(a.astype(float) - b).max() / max(float(np.abs(b).max()), 1e-30)
            worst = max(worst, relative if np.isfinite(relative) else np.inf)
    return worst


def on_device(cupy: Any, given: Mapping[str, Any], *, batch_last: bool = False) -> dict[str, Any]:
    """Return arguments with arrays of more than one sample on the device."""

    def moved(array: np.ndarray) -> Any:
        if not batch_last:
            return cupy.asarray(array)
        return cupy.moveaxis(cupy.ascontiguousarray(cupy.asarray(np.moveaxis(array, 0, -1))), -1, 0)

    return {n: moved(v) if isinstance(v, np.ndarray) else v for n, v in given.items()}


def shapes(handle: CudaHandle) -> Iterator[int]:
    """Let a handle choose by batch size, then force blocks of every size, then choose again."""
    for threads in (-1, 32, 128, 256, 1024):
        handle.set_threads_per_block(threads)
        yield threads
    handle.set_threads_per_block(-1)
