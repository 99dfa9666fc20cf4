"""One algorithm on one robot: its handles, arguments for it, and its kernels on the interpreter."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.builder import variants
from grid_core.model import Model, URDFWarning
from grid_core.plugins.algorithm import Algorithm, Input, resolve
from grid_core.plugins.robot_view import RobotView
from grid_core.testing.errors import ConformanceError, NotApplicable
from grid_core.testing.robots import SampleRobot

if TYPE_CHECKING:
    from grid_backends.numpy import RobotHandle
    from grid_core.build import RobotRequest
    from grid_core.kernel.kernel import Kernel

Array = NDArray[np.float64]
SEED = 7
"""Cases draw the same numbers every time."""


@dataclass(frozen=True)
class Bench:
    """An algorithm of some plugins on a robot.

    Attributes
    ----------
    algorithm : Algorithm
    robot : SampleRobot
    plugins : tuple of str
        Files and folders of plugins that are not installed.
    """

    algorithm: Algorithm
    robot: SampleRobot
    plugins: tuple[str, ...] = ()

    def refuse(self, rule: str, advice: str) -> ConformanceError:
        """Return the error for a rule that the algorithm breaks."""
        return ConformanceError(f"{self.algorithm.name!r} on the {self.robot.name} robot: {rule}; {advice}")

    def require_unit(self) -> None:
        """Skip what is about code of the algorithm's own if it has none."""
        if self.algorithm.emit is None:
            raise NotApplicable(f"{self.algorithm.name!r} only calls {', '.join(self.algorithm.requires)}")

    def handle(self, dtype: str = "float64", device: str = "cpu", backend: str = "numpy") -> RobotHandle:
        """Return a handle of the robot; its units are compiled when they are first called."""
        from grid_rbd.maintenance import default_cache_dir

        root = str(default_cache_dir())
        return _handle(root, self.robot, self.plugins, self.algorithm.name, dtype, device, backend)

    @property
    def reference(self) -> RobotHandle:
        """The handle that interprets kernels in float64."""
        return self.handle(device="reference")

    @cached_property
    def request(self) -> RobotRequest:
        """What a build of the algorithm's unit would be about."""
        from grid_rbd.wishes import description_of, make_wish

        options = {**_options(self.robot), "plugins": self.plugins, "algorithm_list": [self.algorithm.name]}
        return make_wish(description_of(self.robot.urdf, None), options).request

    @property
    def model(self) -> Model:
        return self.reference.model

    @property
    def algorithms(self) -> Mapping[str, Algorithm]:
        """Every declared algorithm."""
        return self.request.catalogue.algorithms

    def arguments(self, batch: int, *, optional: bool = False, dtype: str = "float64") -> dict[str, Any]:
        """Draw arguments of a call, of the dtype."""
        from grid_rbd.samples import sample_arguments

        drawn = sample_arguments(self.algorithm, self.reference, batch, SEED, optional=optional)
        return {name: as_type(value, dtype) for name, value in drawn.items()}

    def outputs(self, handle: RobotHandle, arguments: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Call the algorithm's method and return its outputs by name."""
        answer = getattr(handle, self.algorithm.name)(**arguments)
        several = answer if len(self.algorithm.outputs) > 1 else (answer,)
        return {declared.name: np.asarray(value) for declared, value in zip(self.algorithm.outputs, several)}

    def kernel(self, algorithm: Algorithm, given: Sequence[str]) -> Kernel:
        """Trace the algorithm, or one that follows from it, for calls with the given inputs."""
        absent = max((without for without in variants(algorithm) if not without & set(given)), key=len)
        known = {**self.algorithms, algorithm.name: algorithm}
        return trace_algorithm(algorithm, self.model, known, self.request.options.settings, absent)

    def numbers(self, arguments: Mapping[str, Any]) -> dict[str, Array]:
        """Return what kernels take for arguments of a call: rows of numbers, default values and what is read too."""
        view = RobotView(self.model, self.request.options.settings)
        given = {i.name: arguments.get(i.name) for i in self.algorithm.inputs if i.read is not None}
        found = {}
        for declared in self.algorithm.inputs:
            value = arguments.get(declared.name)
            if declared.read is not None:
                value = _first(declared.read(view, given)) if declared.each else declared.read(view, given)
            if value is None and declared.default is not None:
                value = self._default(declared)
            if value is not None:
                found[declared.name] = np.asarray(value, float).reshape(-1, self.size(declared))
        batch = max((len(rows) for rows in found.values()), default=1)
        return {name: np.broadcast_to(rows[:batch], (batch, rows.shape[1])) for name, rows in found.items()}

    def evaluated(self, kernel: Kernel, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Interpret a kernel."""
        taken = {argument.name for argument in kernel.inputs}
        return evaluate(kernel, {name: rows for name, rows in inputs.items() if name in taken})

    def size(self, declared: Any) -> int:
        """Return the scalars of an input or output per sample."""
        return prod(resolve(declared.shape, self.reference.dims))

    def _default(self, declared: Input) -> Array:
        slot = slice(None) if declared.scalar_slot is None else declared.scalar_slot
        value = np.zeros(self.size(declared))
        value[slot] = declared.default
        return value


def as_type(value: Any, dtype: str) -> Any:
    """Return an array of the dtype; names of frames as they are."""
    return value.astype(dtype) if isinstance(value, np.ndarray) else value


def _first(items: Any) -> Any:
    """Return what is read of the first item of a list; kernels work on one."""
    return None if items is None else np.asarray(items, float)[:1]


def distance(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Return the largest difference relative to the largest entry; infinite if any entry is not finite."""
    if not (np.isfinite(found).all() and np.isfinite(expected).all()):
        return float("inf")
    scale = float(np.abs(expected).max(initial=0.0)) or 1.0
    return float(np.abs(np.asarray(found, float) - expected).max(initial=0.0)) / scale


def _options(robot: SampleRobot) -> dict[str, Any]:
    return {"floating_base": robot.floating_base, "contact_frames": robot.frames, "cost_frames": robot.frames}


@lru_cache(maxsize=64)
def _handle(
    root: str, robot: SampleRobot, plugins: tuple[str, ...], algorithm: str, dtype: str, device: str, backend: str
) -> RobotHandle:
    """Return a handle whose robot is in no list: its name goes as soon as there is a handle."""
    import grid_rbd
    from grid_rbd.maintenance import forget_robot

    name = f"conformance/{robot.name}/{os.getpid()}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", URDFWarning)
        handle = grid_rbd.register_robot(
            name, robot.urdf, algorithm_list=[algorithm], plugins=plugins, cache_dir=root, dtype=dtype,
            device=device, backend=backend, lazy=device != "reference", **_options(robot),
        )  # fmt: skip
    forget_robot(name, root)
    return handle
