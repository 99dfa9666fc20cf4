"""The tensors of a model without a compiler, and the same by derivatives of the first ones that know no mechanics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.oracle.derivatives import along_tangent, central_differences
from tests.oracle.evaluation import Array, Inputs, Reference, algorithms, inputs_of


def tensors(name: str, model: Model, inputs: Inputs, trace: TraceSettings | None = None) -> dict[str, Array]:
    """Return the results of an algorithm of the family by name, (B, nv, nv, nv)."""
    kernel = trace_algorithm(algorithms()[name], model, algorithms(), trace)
    cube = (-1, model.nv, model.nv, model.nv)
    return {key: value.reshape(cube) for key, value in evaluate(kernel, inputs_of(name, inputs)).items()}


FIRST = {
    "idsva_so": ("inverse_dynamics_gradient", "crba", ("d2tau_dq", "d2tau_cross", "d2tau_dqd", "dM_dq")),
    "fdsva_so": ("forward_dynamics_gradient", "minv", ("d2qdd_dq", "d2qdd_cross", "d2qdd_dqd", "d2qdd_du")),
}
"""What the algorithms of the family differentiate: a gradient and a matrix; the names of the results."""


def derivatives_of_first(name: str, model: Model, derivatives: Callable[[str], Array]) -> dict[str, Array]:
    """Return the results of an algorithm of the family from derivatives of what it differentiates, given by name.

    Derivatives are (B, entries, 2 nv): along positions, then velocities.
    """
    nv = model.nv
    gradient, matrix, names = FIRST[name]
    of_gradient = derivatives(gradient).reshape(-1, nv, 2 * nv, 2 * nv)
    of_matrix = derivatives(matrix).reshape(-1, nv, nv, 2 * nv)
    second = of_gradient[:, :, :nv, :nv], of_gradient[:, :, nv:, :nv], of_gradient[:, :, nv:, nv:], of_matrix[..., :nv]
    return dict(zip(names, second, strict=True))


def automatic(name: str, model: Model, inputs: Inputs, trace: TraceSettings | None = None) -> dict[str, Array]:
    """Return the results of an algorithm of the family by automatic derivatives."""

    def derivatives(first: str) -> Array:
        return evaluate(along_tangent(first, model, trace), inputs_of(first, inputs))["gradient"]

    return derivatives_of_first(name, model, derivatives)


def by_differences(name: str, model: Model, inputs: Inputs, trace: TraceSettings | None = None) -> dict[str, Array]:
    """Return the results of an algorithm of the family by central differences on the configuration manifold."""
    reference, known = Reference(model, trace), inputs_of(name, inputs)

    def derivatives(first: str) -> Array:
        def function(**moved: Array) -> Array:
            return np.asarray(reference(first, **inputs_of(first, moved)))

        return central_differences(function, model, known)

    return derivatives_of_first(name, model, derivatives)
