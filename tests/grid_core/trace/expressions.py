"""Random expression graphs: small programs that run on symbolic scalars and on plain NumPy alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from grid_core import trace as t
from grid_core.kernel.interpret import evaluate
from grid_core.kernel.kernel import Argument, Kernel, Store
from grid_core.trace import Graph, Real, Scalar

Array = NDArray[Any]
Step = tuple[str, int, int, float]
"""Operation, positions of two operands, a constant."""

SYMBOLIC: dict[str, Callable[[Any, Any, float], Any]] = {
    "add": lambda x, y, c: x + y,
    "sub": lambda x, y, c: x - y,
    "mul": lambda x, y, c: t.tanh(x) * t.tanh(y),
    "div": lambda x, y, c: x / (1.0 + y * y),
    "neg": lambda x, y, c: -x,
    "scale": lambda x, y, c: x * c,
    "shift": lambda x, y, c: c + x,
    "from": lambda x, y, c: c - x,
    "over": lambda x, y, c: c / (2.0 + t.sin(x)),
    "sqrt": lambda x, y, c: t.sqrt(1.0 + x * x),
    "sin": lambda x, y, c: t.sin(x),
    "cos": lambda x, y, c: t.cos(x),
    "exp": lambda x, y, c: t.exp(t.tanh(x)),
    "log": lambda x, y, c: t.log(1.5 + x * x),
    "tanh": lambda x, y, c: t.tanh(x),
    "atan2": lambda x, y, c: t.atan2(x, 1.5 + y * y),
    "abs": lambda x, y, c: t.fabs(x),
    "min": lambda x, y, c: t.minimum(x, y),
    "max": lambda x, y, c: t.maximum(x, y),
    "select": lambda x, y, c: t.select(t.less(x, y), x + c, y * c),
}


def _pick(mask: Array, x: Array, y: Array) -> Array:
    return np.where(mask, x, y)


def _atan2(y: Array, x: Array) -> Array:
    return np.arctan(y / x)


NUMERIC: dict[str, Callable[[Array, Array, float], Array]] = {
    "add": lambda x, y, c: x + y,
    "sub": lambda x, y, c: x - y,
    "mul": lambda x, y, c: np.tanh(x) * np.tanh(y),
    "div": lambda x, y, c: x / (1.0 + y * y),
    "neg": lambda x, y, c: -x,
    "scale": lambda x, y, c: x * c,
    "shift": lambda x, y, c: c + x,
    "from": lambda x, y, c: c - x,
    "over": lambda x, y, c: c / (2.0 + np.sin(x)),
    "sqrt": lambda x, y, c: np.sqrt(1.0 + x * x),
    "sin": lambda x, y, c: np.sin(x),
    "cos": lambda x, y, c: np.cos(x),
    "exp": lambda x, y, c: np.exp(np.tanh(x)),
    "log": lambda x, y, c: np.log(1.5 + x * x),
    "tanh": lambda x, y, c: np.tanh(x),
    "atan2": lambda x, y, c: _atan2(x, 1.5 + y * y),
    "abs": lambda x, y, c: _pick(np.real(x) < 0.0, -x, x),
    "min": lambda x, y, c: _pick(np.real(x) < np.real(y), x, y),
    "max": lambda x, y, c: _pick(np.real(x) < np.real(y), y, x),
    "select": lambda x, y, c: _pick(np.real(x) < np.real(y), x + c, y * c),
}
"""Analytic, so that complex arguments give derivatives (complex step); branches look at the real part."""


@st.composite
def programs(draw: st.DrawFn, inputs: int = 3, longest: int = 14) -> list[Step]:
    """Return programs whose steps use any earlier result; constants include zero, one and minus one."""
    constants = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 2.0]), st.floats(-3.0, 3.0).filter(lambda c: abs(c) > 1e-3))
    steps = []
    for number in range(draw(st.integers(1, longest))):
        position = st.integers(0, inputs + number - 1)
        steps.append((draw(st.sampled_from(sorted(SYMBOLIC))), draw(position), draw(position), draw(constants)))
    return steps


def run(program: Sequence[Step], table: Mapping[str, Callable[[Any, Any, float], Any]], inputs: Sequence[Any]) -> Any:
    """Return all results of a program, inputs left out."""
    values = list(inputs)
    for op, x, y, c in program:
        values.append(table[op](values[x], values[y], c))
    return values[len(inputs) :]


def trace(program: Sequence[Step], inputs: int = 3) -> tuple[Graph, list[Scalar], list[Real]]:
    """Return the graph of a program, its input scalars and its results."""
    graph = Graph()
    x = [graph.node("input", (), ("x", i)) for i in range(inputs)]
    return graph, x, run(program, SYMBOLIC, x)


def value(graph: Graph, outputs: Sequence[Real], x: Array) -> Array:
    """Evaluate scalars for a batch (B, inputs) with the interpreter; return (B, outputs)."""
    stores = tuple(Store("y", i, v, "", len(graph.nodes)) for i, v in enumerate(outputs))
    shape = (Argument("x", x.shape[1], (x.shape[1],)),), (Argument("y", len(outputs), (len(outputs),)),)
    return evaluate(Kernel("k", *shape, (), stores, graph), {"x": x})["y"]


def complex_step(program: Sequence[Step], x: Array, direction: Array) -> Array:
    """Return the exact directional derivative of a program, (B, outputs)."""
    moved = (x + 1e-30j * direction).T
    return np.stack([np.imag(y) * np.ones(len(x)) for y in run(program, NUMERIC, list(moved))], axis=1) * 1e30
