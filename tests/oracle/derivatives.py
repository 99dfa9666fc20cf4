"""Derivatives along the tangent by two ways that know nothing of mechanics: the traced graph, and differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grid_core.kernel import Kernel, trace_algorithm
from grid_core.kernel.kernel import Argument, Store
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from grid_core.trace import Graph, Real, Scalar, jacobian
from grid_core.trace.linalg import rotation_of_quaternion
from tests.oracle.evaluation import Array, Inputs, algorithms

Seeds = dict[Scalar, Real]


def along_tangent(
    name: str, model: Model, settings: TraceSettings | None = None, plain: tuple[str, ...] = ("qd",)
) -> Kernel:
    """Return a kernel of ``[d y / d q | d y / d qd]``, q along the tangent, by automatic differentiation.

    ``plain`` names the inputs after ``q``, each as wide as a velocity.
    """
    kernel = trace_algorithm(algorithms()[name], model, algorithms(), settings)
    values = [action for action in kernel.actions if isinstance(action, Store)]
    rates = [{kernel.graph.node("input", (), (x, k)): 1.0} for x in plain for k in range(model.nv)]
    rows = jacobian([store.value for store in values], [*tangent_seeds(kernel.graph, model), *rates])
    (output,), width = kernel.outputs, (1 + len(plain)) * model.nv
    stores = tuple(
        replace(store, target="gradient", index=store.index * width + k, value=x, order=len(kernel.graph.nodes))
        for store, row in zip(values, rows)
        for k, x in enumerate(row)
    )
    result = Argument("gradient", output.size * width, (*output.shape, width))
    return Kernel(f"{name}_by_ad", kernel.inputs, (result,), (), stores, kernel.graph)


def tangent_seeds(graph: Graph, model: Model) -> list[Seeds]:
    """Return ``d q / d tangent`` per tangent direction: quaternions move by ``quat * (e_k / 2, 0)``."""
    q = [graph.node("input", (), ("q", i)) for i in range(model.nq)]
    seeds: list[Seeds] = []
    for kind, q0, _, nq, _ in model.configuration_layout:
        if kind == "euclidean":
            seeds += [{q[q0 + k]: 1.0} for k in range(nq)]
            continue
        quaternion = q[q0 + nq - 4 : q0 + nq]
        if kind == "floating":
            rotation = rotation_of_quaternion(quaternion)
            seeds += [{q[q0 + r]: rotation[r][k] for r in range(3)} for k in range(3)]
        x, y, z, w = quaternion
        turns = ((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z))
        seeds += [{s: 0.5 * rate for s, rate in zip(quaternion, turn, strict=True)} for turn in turns]
    return seeds


STENCIL = {1: 45.0, -1: -45.0, 2: -9.0, -2: 9.0, 3: 1.0, -3: -1.0}
"""Weights of central differences of sixth order, to be divided by 60 steps."""


def slope(function: Callable[[float], Array], step: float) -> Array:
    """Return the derivative of a function at zero by differences."""
    return np.asarray(sum(weight * function(k * step) for k, weight in STENCIL.items()) / (60.0 * step))


def central_differences(function: Callable[..., Array], model: Model, inputs: Inputs, step: float = 2e-3) -> Array:
    """Return ``[d y / d q | d y / d qd]`` by differences on the configuration manifold, in one call."""
    batch, width, steps = len(inputs["q"]), 2 * model.nv, len(STENCIL)
    moves = step * np.array(list(STENCIL))[:, None, None, None] * np.eye(width)[:, None, :]
    tangent, rates = moves[..., : model.nv], moves[..., model.nv :]
    moved = {key: np.broadcast_to(value, (steps, width, *value.shape)) for key, value in inputs.items()}
    moved |= {"q": model.integrate(inputs["q"], tangent), "qd": inputs["qd"] + rates}
    values = function(**{key: value.reshape(steps * width * batch, -1) for key, value in moved.items()})
    weights = np.array(list(STENCIL.values())) / (60.0 * step)
    return np.asarray(np.einsum("s,swbi->biw", weights, values.reshape(steps, width, batch, -1)))
