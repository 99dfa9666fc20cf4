"""Derivatives along the tangent by two ways that know nothing of mechanics: the traced graph, and differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grid_core.kernel import Kernel, trace_algorithm
from grid_core.kernel.kernel import Argument, Store
from grid_core.model import Model
from grid_core.trace import Graph, Real, Scalar, jacobian
from grid_core.trace.linalg import rotation_of_quaternion
from tests.oracle.evaluation import Array, Inputs, algorithms

Seeds = dict[Scalar, Real]


def along_tangent(name: str, model: Model) -> Kernel:
    """Return a kernel of ``[d y / d q | d y / d qd]``, q along the tangent, by automatic differentiation."""
    kernel = trace_algorithm(algorithms()[name], model, algorithms())
    outputs = [action.value for action in kernel.actions if isinstance(action, Store)]
    rates = [{kernel.graph.node("input", (), ("qd", k)): 1.0} for k in range(model.nv)]
    rows = jacobian(outputs, [*tangent_seeds(kernel.graph, model), *rates])
    flat = [x for row in rows for x in row]
    order = len(kernel.graph.nodes)
    stores = tuple(Store("gradient", i, x, (0, 0), order) for i, x in enumerate(flat))
    result = Argument("gradient", len(flat), (len(flat),))
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


def central_differences(function: Callable[..., Array], model: Model, inputs: Inputs, step: float = 2e-3) -> Array:
    """Return ``[d y / d q | d y / d qd]`` by central differences of sixth order on the configuration manifold."""
    columns = []
    for key, move in (("q", model.integrate), ("qd", np.add)):
        for direction in np.eye(model.nv):
            total: Array = np.zeros(())
            for weight, multiple in ((45.0, 1), (-9.0, 2), (1.0, 3)):
                ahead, behind = (
                    function(**{**inputs, key: move(inputs[key], sign * multiple * step * direction)})
                    for sign in (1.0, -1.0)
                )
                total = total + weight * (ahead - behind)
            columns.append(total / (60.0 * step))
    return np.stack(columns, axis=-1)
