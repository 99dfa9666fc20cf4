"""The outputs of the centroidal family by the name ``algorithm.output``, from whatever evaluates algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle.evaluation import Array, Inputs, algorithms, family, inputs_of

NAMES = family("centroidal")
OUTPUTS = [f"{name}.{output.name}" for name in NAMES for output in algorithms()[name].outputs]

INVERTING = {"forward_dynamics_parameter_gradient", "f_ext_gradient"}
"""What solves with the mass matrix."""


def algorithm_of(output: str) -> str:
    return output.partition(".")[0]


def evaluated(call: Callable[..., Any], output: str, inputs: Inputs, *, without: tuple[str, ...] = ()) -> Array:
    """Return one output: ``call(name, **inputs)`` gives an array, or several by name or as a named tuple."""
    name, _, field = output.partition(".")
    result = call(name, **inputs_of(name, inputs, without=without))
    if isinstance(result, dict):
        return result[field]  # type: ignore[no-any-return]
    return getattr(result, field) if isinstance(result, tuple) else result  # type: ignore[no-any-return]
