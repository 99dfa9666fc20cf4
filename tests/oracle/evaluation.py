"""Evaluation of algorithms for a model without a compiler, random inputs, and the measure of errors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.settings import TraceSettings, dimensions
from grid_core.model import Model, URDFWarning, load_model
from grid_core.plugins.algorithm import Absent, Algorithm, resolve
from grid_core.plugins.manager import load_catalogue

Array = NDArray[np.float64]
Inputs = dict[str, Array]


def quiet_model(source: str | Path, **options: Any) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", URDFWarning)
        return load_model(source, **options)


@cache
def algorithms() -> Mapping[str, Algorithm]:
    return load_catalogue(()).algorithms


def dynamics() -> list[str]:
    """Return the names of the dynamics family."""
    return family("dynamics")


def family(name: str) -> list[str]:
    """Return the names of a family's algorithms."""
    return [algorithm.name for algorithm in algorithms().values() if algorithm.family == name]


class Reference:
    """A model's algorithms on the interpreter: ``reference(name, q=..., qd=...)`` for batches, leading axis B.

    Inputs are the numbers that a kernel takes; one that callers choose by name is left out if it may be.
    """

    def __init__(self, model: Model, settings: TraceSettings | None = None) -> None:
        self.model = model
        self.settings = settings
        self.dims = dimensions(model, settings or TraceSettings())
        self._kernels: dict[Any, Any] = {}

    def __call__(self, name: str, **inputs: Array) -> Any:
        """Return the output of an algorithm; several by name."""
        algorithm = algorithms()[name]
        absent = frozenset(i.name for i in algorithm.inputs if i.absent is Absent.VARIANT and i.name not in inputs)
        if (name, absent) not in self._kernels:
            kernel = trace_algorithm(algorithm, self.model, algorithms(), self.settings, absent)
            self._kernels[name, absent] = kernel
        batch = len(next(iter(inputs.values())))
        inputs = {"gravity": np.tile([0.0, 0.0, -9.81], (batch, 1)), **inputs}
        values = evaluate(self._kernels[name, absent], {k: np.reshape(v, (len(v), -1)) for k, v in inputs.items()})
        shapes = {o.name: resolve(o.shape, self.dims) for o in algorithm.outputs}
        shaped = {name: values[name].reshape(len(values[name]), *shape) for name, shape in shapes.items()}
        return shaped if len(shaped) > 1 else next(iter(shaped.values()))


def random_inputs(model: Model, seed: int, n: int, *, gravity: bool = True) -> Inputs:
    """Return ``n`` random samples of every input of the family, wrenches scaled with the bodies' inertia."""
    generator = np.random.default_rng(seed)
    qd, qdd, u = generator.normal(size=(3, n, model.nv))
    wrenches = generator.normal(size=(n, model.nb, 6)) * np.array([[[0.1] * 3 + [1.0] * 3]])
    wrenches *= 3.0 * np.array([max(body.mass, 0.01) for body in model.bodies])[:, None]
    inputs = {
        "q": model.random(seed, n),
        "qd": qd,
        "qdd": 3.0 * qdd,
        "u": 5.0 * u,
        "f_ext": wrenches.reshape(n, -1),
    }
    if gravity:
        inputs["gravity"] = generator.normal(size=(n, 3)) * 5.0 + np.array([0.0, 0.0, -9.81])
    return inputs


def inputs_of(name: str, inputs: Inputs, *, without: tuple[str, ...] = ()) -> Inputs:
    """Return those inputs that an algorithm takes."""
    taken = [declared.name for declared in algorithms()[name].inputs]
    return {key: inputs[key] for key in taken if key in inputs and key not in without}


def relative_error(ours: Array, theirs: Array, floor: float = 0.0) -> float:
    """Return the largest error over a batch, each sample relative to its largest entry (at least ``floor``)."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape
    assert np.isfinite(ours).all()
    axes = tuple(range(1, theirs.ndim))
    scale = np.maximum(np.abs(theirs).max(axis=axes), max(floor, np.finfo(float).tiny))
    return float((np.abs(ours - theirs).max(axis=axes) / scale).max())
