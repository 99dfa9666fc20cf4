"""Calls of compiled units: values against the interpreter, precisions against each other, and batches of all sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_core.plugins.algorithm import resolve
from grid_core.testing.bench import Bench, as_type, distance

DOUBLE, SINGLE = 1e-9, 1e-3
"""The largest differences that are rounding, relative to the largest entry."""

BATCH = 37
"""A multiple of no number of lanes."""


def check_values(bench: Bench) -> None:
    """Compare compiled float64 with the interpreter, with and without optional arguments."""
    for optional in (False, True):
        arguments = bench.arguments(BATCH, optional=optional)
        expected = bench.outputs(bench.reference, arguments)
        _check_shapes(bench, expected)
        _compare(bench, bench.outputs(bench.handle(), arguments), expected, DOUBLE, "compiled float64")


def check_single_precision(bench: Bench) -> None:
    """Compare compiled float32 with the interpreter in float64, both for numbers that float32 has."""
    arguments = bench.arguments(BATCH, dtype="float32")
    exact = {name: as_type(value, "float64") for name, value in arguments.items()}
    found = bench.outputs(bench.handle("float32"), arguments)
    _compare(bench, found, bench.outputs(bench.reference, exact), SINGLE, "compiled float32")


def check_batches(bench: Bench) -> None:
    """Call with no sample, one, and sizes that fill no pack: each row is that of the sample alone, bit for bit."""
    handle, arguments = bench.handle("float32"), bench.arguments(BATCH, dtype="float32")
    whole = bench.outputs(handle, arguments)
    for size in (0, 1, 5, BATCH - 1):
        part = bench.outputs(handle, _rows(arguments, slice(0, size)))
        for name, rows in part.items():
            if rows.shape != (size, *whole[name].shape[1:]):
                raise bench.refuse(f"a batch of {size} gives {name!r} the shape {rows.shape}", _UNEXPECTED)
            _same(bench, rows, whole[name][:size], f"{name!r} of a batch of {size}")
    for row in (0, BATCH - 1):
        for name, alone in bench.outputs(handle, _rows(arguments, row)).items():
            _same(bench, alone, whole[name][row], f"{name!r} of sample {row} alone")
    folded = {name: _folded(value) for name, value in _rows(arguments, slice(0, 35)).items()}
    for name, rows in bench.outputs(handle, folded).items():
        _same(bench, rows.reshape(35, *rows.shape[2:]), whole[name][:35], f"{name!r} of a batch of shape (5, 7)")


_UNEXPECTED = "report it, or look at what a template of the plugin makes of the batch"


def _rows(arguments: Mapping[str, Any], which: int | slice) -> dict[str, Any]:
    return {name: value[which] if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


def _folded(value: Any) -> Any:
    return value.reshape(5, 7, *value.shape[1:]) if isinstance(value, np.ndarray) else value


def _same(bench: Bench, found: NDArray[Any], expected: NDArray[Any], what: str) -> None:
    if not np.array_equal(found, expected, equal_nan=True):
        raise bench.refuse(f"{what} is not what the sample gives among {BATCH}, bit for bit", _UNEXPECTED)


def _check_shapes(bench: Bench, outputs: Mapping[str, NDArray[Any]]) -> None:
    if bench.algorithm.scan is not None or any(i.each for i in bench.algorithm.inputs):
        return  # one more axis, of steps or items
    for declared in bench.algorithm.outputs:
        batches = [(BATCH,), ()]  # without an argument of samples there is no batch
        if outputs[declared.name].shape not in [(*b, *resolve(declared.shape, bench.reference.dims)) for b in batches]:
            raise bench.refuse(
                f"output {declared.name!r} has the shape {outputs[declared.name].shape}, declared is {declared.shape}",
                "correct the declaration",
            )


def _compare(
    bench: Bench, found: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]], most: float, what: str
) -> None:
    for name, values in expected.items():
        if not np.isfinite(values).all():
            raise bench.refuse(
                f"output {name!r} has values that are not finite for ordinary samples",
                "guard divisions and roots, or give the inputs a 'typical' size",
            )
        if (error := distance(found[name], values)) > most:
            raise bench.refuse(
                f"output {name!r} of {what} differs from the interpreter by {error:.1e} of its largest entry, more "
                f"than {most:.0e}",
                "avoid differences of large numbers that nearly cancel",
            )
