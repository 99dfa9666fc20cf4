"""Outputs with blocks of zeros: what is kept, and that rows come out whole whatever the target."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from grid_core.codegen.layout import Layout, layouts, zero_runs
from grid_core.codegen.render import render_header, render_kernel
from grid_core.kernel import KernelBuilder, evaluate, trace_algorithm
from grid_core.kernel.builder import Row
from grid_core.kernel.kernel import Argument, Kernel
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm
from grid_core.toolchains import CxxCompiler
from tests.grid_core.units import compile_algorithm, toy

WIDE = 330


def sparse(k: KernelBuilder) -> None:
    """Set an entry here and there, a constant among them; the last block, which is not full, is empty."""
    a, b = k.input("x")
    y = [0.0] * WIDE
    y[3], y[40], y[41], y[200] = a * b, 2.5, a, b
    k.output("y", y)


def looped(k: KernelBuilder) -> None:
    """Store in one loop, add in two, to slots that are kept next to each other and far apart."""
    x = k.array("x", k.input("x"))
    y = k.result("y")

    def store(row: Row) -> None:
        row.store(y, 1, row.load(x, 0) * 2.0)
        row.store(y, 1, row.load(x, 0) * 3.0, offset=150)

    k.loop([(i % 2, 20 * i) for i in range(4)], store)
    k.loop([(0, 60), (1, 61), (1, 300)], lambda row: row.accumulate(y, 1, row.load(x, 0) + 1.0))
    k.loop([(0, 61), (1, 300)], lambda row: row.accumulate(y, 1, row.load(x, 0)))


def looped_by_numpy(x: np.ndarray) -> np.ndarray:
    y = np.zeros((len(x), WIDE))
    for i in range(4):
        y[:, 20 * i] = 2.0 * x[:, i % 2]
        y[:, 20 * i + 150] = 3.0 * x[:, i % 2]
    y[:, 60] += x[:, 0] + 1.0
    y[:, 61] += x[:, 1] + 1.0 + x[:, 0]
    y[:, 300] += x[:, 1] + 1.0 + x[:, 1]
    return y


SPARSE = toy("sparse", {"x": "nv"}, {"y": str(WIDE)}, sparse)
LOOPED = toy("looped", {"x": "nv"}, {"y": str(WIDE)}, looped)


def kernel_of(algorithm: Algorithm, model: Model) -> Kernel:
    return trace_algorithm(algorithm, model, {algorithm.name: algorithm})


def test_blocks_of_zeros_are_left_out(pendulum: Model) -> None:
    kernel = kernel_of(SPARSE, pendulum)
    kept = layouts(kernel)["y"]
    assert kernel.written("y") == {3, 40, 41, 200}
    assert [b for b, place in enumerate(kept.blocks) if place >= 0] == [0, 2, 12]
    assert kept.size == 48
    assert [kept.place(i) for i in (3, 40, 200)] == [3, 24, 40]
    assert zero_runs(kernel, "y") == [(0, 3), (4, 40), (42, 200), (201, WIDE)]


def test_a_last_block_takes_what_is_left_of_the_row() -> None:
    assert Layout(Argument("y", 40, (40,)), (-1, -1, 0)).size == 8
    assert Layout(Argument("y", 40, (40,)), (0, -1, 1)).size == 24
    assert Layout(Argument("y", 40, (40,)), (-1, -1, -1)).size == 1, "C++ has no arrays of length 0"


def test_dense_outputs_keep_their_places(pendulum: Model) -> None:
    few = toy("few", {"x": "nv"}, {"y": "90"}, lambda k: k.output("y", [*(k.input("x") * 40), *[0.0] * 10]))
    assert not layouts(kernel_of(few, pendulum))["y"].blocks


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("algorithm", [SPARSE, LOOPED], ids=lambda a: a.name)
@pytest.mark.parametrize("batch", [1, 13, 15000])
def test_units_write_whole_rows(
    algorithm: Algorithm, dtype: str, batch: int, pendulum: Model, cxx: CxxCompiler, tmp_path: Path
) -> None:
    x = np.random.default_rng(2).normal(size=(batch, 2)).astype(dtype)
    found = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum, dtype=dtype)(algorithm.name, {"x": x}, batch)
    expected = evaluate(kernel_of(algorithm, pendulum), {"x": x.astype(float)})["y"]
    np.testing.assert_allclose(found["y"], expected, rtol=1e-6, atol=1e-6)
    if algorithm is LOOPED:
        np.testing.assert_allclose(expected, looped_by_numpy(x.astype(float)), rtol=1e-14)


@pytest.mark.parametrize("algorithm", [SPARSE, LOOPED], ids=lambda a: a.name)
def test_functions_of_the_header_write_whole_rows(algorithm: Algorithm, pendulum: Model, tmp_path: Path) -> None:
    names = {algorithm.name: algorithm}
    (tmp_path / "grid.hpp").write_text(render_header([algorithm.name], pendulum, names, TraceSettings()))
    (tmp_path / "use.cpp").write_text(
        f'#include "grid.hpp"\nextern "C" void call(const double* x, double* y) {{\n'
        f"double ws[grid::{algorithm.name}_scratch]; grid::{algorithm.name}(x, y, ws); }}\n"
    )
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["g++", *flags, tmp_path / "use.cpp", "-o", tmp_path / "use.so"], check=True)
    x, y = np.array([0.3, -0.7]), np.full(WIDE, np.nan)
    ctypes.CDLL(str(tmp_path / "use.so")).call(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
    np.testing.assert_allclose(y, evaluate(kernel_of(algorithm, pendulum), {"x": x[None]})["y"][0], rtol=1e-14)


def test_a_caller_reads_what_loops_reached(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        y = k.call("looped", x=k.input("x"))
        assert y[1] == 0.0, "what no loop reached is known to be zero"
        k.output("z", [y[60], y[300], y[1]])

    caller = toy("caller", {"x": "nv"}, {"z": "3"}, emit, requires=("looped",))
    x = np.random.default_rng(3).normal(size=(5, 2))
    found = evaluate(trace_algorithm(caller, pendulum, {"looped": LOOPED}), {"x": x})["z"]
    np.testing.assert_allclose(found, looped_by_numpy(x)[:, [60, 300, 1]], rtol=1e-14)


def test_results_of_loops_take_no_workspace(pendulum: Model) -> None:
    rendered = render_kernel(kernel_of(LOOPED, pendulum))
    assert rendered.slots == 2, "the array of inputs alone"
