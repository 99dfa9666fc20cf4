"""Units outside the store: rendered, compiled, opened with ctypes and called through the C ABI."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_core.codegen.render import RUNTIME, render_unit
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model, load_model
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output
from grid_core.toolchains import CxxCompiler, detect_level

Array = NDArray[Any]
GOLDEN = Path(__file__).parents[1] / "golden"
PENDULUM = GOLDEN / "double_pendulum_continuous.urdf"


class _Argument(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("size", ctypes.c_int64))


_POINTERS, _STRIDES = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64)
_RUN = ctypes.CFUNCTYPE(None, _POINTERS, _STRIDES, _POINTERS, _STRIDES, ctypes.c_int64, ctypes.c_int64)


class _Function(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("num_inputs", ctypes.c_int32),
        ("num_outputs", ctypes.c_int32),
        ("inputs", ctypes.POINTER(_Argument)),
        ("outputs", ctypes.POINTER(_Argument)),
        ("operations", ctypes.c_int64),
        ("run", _RUN),
    )


class _Unit(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("scalar_bytes", ctypes.c_uint32),
        ("lanes", ctypes.c_uint32),
        ("num_functions", ctypes.c_int32),
        ("algorithm", ctypes.c_char_p),
        ("functions", ctypes.POINTER(_Function)),
    )


class Unit:
    """An open unit. ``unit(function, inputs, batch)`` returns every output, (batch, size)."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.grid_unit_table.restype = ctypes.POINTER(_Unit)
        self.table = self._library.grid_unit_table().contents
        self.dtype = np.dtype(f"f{self.table.scalar_bytes}")
        self.functions = {f.name.decode(): f for f in self.table.functions[: self.table.num_functions]}

    def inputs(self, function: str) -> dict[str, int]:
        f = self.functions[function]
        return {a.name.decode(): a.size for a in f.inputs[: f.num_inputs]}

    def __call__(self, function: str, inputs: Mapping[str, Array], batch: int) -> dict[str, Array]:
        """Inputs are (batch, size), (size,) for one row that all samples share, or left out to read as zeros."""
        f = self.functions[function]
        unknown = set(inputs) - set(self.inputs(function))
        assert not unknown, f"{function} takes no {unknown}"
        given = [inputs.get(name) for name in self.inputs(function)]
        arrays = [None if a is None else np.ascontiguousarray(a, self.dtype) for a in given]
        outs = {a.name.decode(): np.full((batch, a.size), np.nan, self.dtype) for a in f.outputs[: f.num_outputs]}
        f.run(
            (ctypes.c_void_p * len(arrays))(*(None if a is None else a.ctypes.data for a in arrays)),
            (ctypes.c_int64 * len(arrays))(*(0 if a is None or a.ndim == 1 else a.shape[1] for a in arrays)),
            (ctypes.c_void_p * len(outs))(*(a.ctypes.data for a in outs.values())),
            (ctypes.c_int64 * len(outs))(*(a.shape[1] for a in outs.values())),
            0,
            batch,
        )
        return outs


def compile_text(compiler: CxxCompiler, text: str, folder: Path) -> Unit:
    """Compile the source of a unit; warnings are errors."""
    folder.mkdir(parents=True, exist_ok=True)
    source, library = folder / "unit.cpp", folder / "unit.so"
    source.write_text(text, "utf-8")
    compiler.compile(
        source, library, level=detect_level(), include=[RUNTIME], log=folder / "log",
        extra=["-Wall", "-Wextra", "-Werror", "-Wno-psabi"],
    )  # fmt: skip
    return Unit(library)


def compile_algorithm(
    compiler: CxxCompiler,
    algorithm: Algorithm,
    folder: Path,
    *,
    model: Model | None = None,
    algorithms: Mapping[str, Algorithm] | None = None,
    settings: TraceSettings | None = None,
    dtype: str = "float64",
) -> Unit:
    """Render and compile one algorithm, for the double pendulum unless told otherwise."""
    known = {algorithm.name: algorithm} if algorithms is None else algorithms
    text = render_unit(algorithm, model or load_model(PENDULUM), known, settings or TraceSettings(), dtype)
    return compile_text(compiler, text, folder)


def toy(
    name: str,
    inputs: Mapping[str, str | Sequence[str]],
    outputs: Mapping[str, str | Sequence[str]],
    emit: Any,
    *,
    requires: tuple[str, ...] = (),
    absent: Mapping[str, Absent] | None = None,
) -> Algorithm:
    """Declare an algorithm from argument names and shapes."""

    def shape(axes: str | Sequence[str]) -> tuple[str, ...]:
        return (axes,) if isinstance(axes, str) else tuple(axes)

    return Algorithm(
        name=name,
        family="toys",
        summary=f"The toy {name}.",
        inputs=tuple(Input(n, shape(s), "input", absent=(absent or {}).get(n)) for n, s in inputs.items()),
        outputs=tuple(Output(n, shape(s), "output") for n, s in outputs.items()),
        emit=emit,
        requires=requires,
    )
