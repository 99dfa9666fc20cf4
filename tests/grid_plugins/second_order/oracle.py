"""The tensors of a model without a compiler, and the same by automatic derivatives."""

from __future__ import annotations

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.oracle.derivatives import along_tangent
from tests.oracle.evaluation import Array, Inputs, algorithms, inputs_of


def tensors(name: str, model: Model, inputs: Inputs, trace: TraceSettings | None = None) -> dict[str, Array]:
    """Return the results of an algorithm of the family by name, (B, nv, nv, nv)."""
    kernel = trace_algorithm(algorithms()[name], model, algorithms(), trace)
    cube = (-1, model.nv, model.nv, model.nv)
    return {key: value.reshape(cube) for key, value in evaluate(kernel, inputs_of(name, inputs)).items()}


def automatic(model: Model, inputs: Inputs, trace: TraceSettings | None = None) -> dict[str, Array]:
    """Return the results of ``idsva_so`` by automatic derivatives of the gradient and the mass matrix."""
    nv = model.nv
    gradient = _derivatives("inverse_dynamics_gradient", model, inputs, trace)
    return {
        "d2tau_dq": gradient[:, :, :nv, :nv],
        "d2tau_dqd": gradient[:, :, nv:, nv:],
        "d2tau_cross": gradient[:, :, nv:, :nv],
        "dM_dq": _derivatives("crba", model, inputs, trace)[..., :nv],
    }


def _derivatives(name: str, model: Model, inputs: Inputs, trace: TraceSettings | None) -> Array:
    values = evaluate(along_tangent(name, model, trace), inputs_of(name, inputs))["gradient"]
    return values.reshape(len(values), model.nv, -1, 2 * model.nv)
