"""The reference target: a kernel interpreted with NumPy, all samples of a batch at once. Needs no compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_core.kernel.kernel import Kernel, Loop, Store
from grid_core.trace.scalar import Real, Scalar

Array = NDArray[np.float64]

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "atan2": np.arctan2,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "select": np.where,
}


def evaluate(kernel: Kernel, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Evaluate a kernel for a batch.

    Parameters
    ----------
    kernel : Kernel
    inputs : mapping of str to ndarray (B, size)
        One array per kernel input; a missing one reads as zeros.

    Returns
    -------
    dict of str to ndarray (B, size)
        One float64 array per output.
    """
    batch = max((len(a) for a in inputs.values()), default=1)
    run = _Run(kernel, inputs, batch)
    with np.errstate(all="ignore"):
        for event in kernel.events():
            if isinstance(event, Scalar):
                run.known[event.id] = run.apply(event, run.known)
            elif isinstance(event, Store):
                run.memory[event.target][:, event.index] = run.value(event.value, run.known)
            else:
                run.loop(event)
    return {out.name: run.memory[out.name] for out in kernel.outputs}


class _Run:
    """The memory of one evaluation: values of nodes, outputs and workspace arrays."""

    def __init__(self, kernel: Kernel, inputs: Mapping[str, Array], batch: int) -> None:
        self.inputs = inputs
        self.batch = batch
        self.memory = {a.name: np.zeros((batch, a.size)) for a in (*kernel.outputs, *kernel.arrays)}
        self.known: dict[int, Any] = {}
        self.row: tuple[int, ...] = ()

    def value(self, x: Real, known: Mapping[int, Any]) -> Any:
        return known[x.id] if isinstance(x, Scalar) else x

    def apply(self, node: Scalar, known: Mapping[int, Any]) -> Any:
        if node.op == "input":
            name, index = node.data
            return self.inputs[name][:, index] if name in self.inputs else np.zeros(self.batch)
        if node.op == "slot":
            name, index, _ = node.data
            return self.memory[name][:, index].copy()
        if node.op == "load":
            name, column, offset = node.data
            source = self.memory[name] if name in self.memory else self.inputs[name]
            return source[:, offset + self.row[column]].copy()
        return OPERATIONS[node.op](*(self.value(a, known) for a in node.args))

    def loop(self, loop: Loop) -> None:
        body = loop.body()
        for self.row in loop.table:
            local = dict(self.known)
            for node in body:
                local[node.id] = self.apply(node, local)
            for store in loop.stores:
                at = store.offset + self.row[store.column]
                value = self.value(store.value, local)
                if store.accumulate:
                    value = self.memory[store.target][:, at] + value
                self.memory[store.target][:, at] = value
