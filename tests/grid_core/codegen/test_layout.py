"""Outputs that are mostly zeros or repeat values: what is kept, and that rows come out whole whatever the target."""

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
LONG = 1030


def sparse(k: KernelBuilder) -> None:
    """Set an entry here and there, constants and equal ones among them; the last block is not full."""
    a, b = k.input("x")
    y = [0.0] * WIDE
    y[3], y[40], y[41], y[200] = a * b, 2.5, a, b
    y[4], y[201], y[329] = 2.5, a * b, a
    k.output("y", y)


def long_rows(k: KernelBuilder) -> None:
    """Set blocks next to each other, alone, and at both ends of rows that begin anywhere in a line of memory."""
    a, b = k.input("x")
    y = [0.0] * LONG
    for n, index in enumerate([0, 7, 64, *range(200, 240), 500, 516, 517, 900, LONG - 9, LONG - 1]):
        y[index] = a * n + b
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
LONG_ROWS = toy("long_rows", {"x": "nv"}, {"y": str(LONG)}, long_rows)
LOOPED = toy("looped", {"x": "nv"}, {"y": str(WIDE)}, looped)


def kernel_of(algorithm: Algorithm, model: Model) -> Kernel:
    return trace_algorithm(algorithm, model, {algorithm.name: algorithm})


def test_zeros_are_left_out_and_equal_entries_share_a_place(pendulum: Model) -> None:
    kernel = kernel_of(SPARSE, pendulum)
    kept = layouts(kernel)["y"]
    assert kernel.written("y") == {3, 4, 40, 41, 200, 201, 329}
    assert [kept.place(i) for i in (3, 4, 40, 41, 200, 201, 329)] == [0, 1, 1, 2, 3, 0, 2]
    assert (kept.zero, kept.size) == (4, 5)
    assert [b for b, number in enumerate(kept.blocks) if number >= 0] == [0, 5, 25, 41]
    assert kept.lists[:8] == (4, 4, 4, 0, 1, 4, 4, 4)
    assert kept.lists[-8:] == (4, 2, *[4] * 6), "the last list is filled up"
    assert zero_runs(kernel, "y") == [(0, 3), (5, 40), (42, 200), (202, 329)]


def test_nothing_is_kept_of_zeros() -> None:
    kept = Layout(Argument("y", 20, (20,)), (-1,) * 20)
    assert (kept.size, kept.blocks) == (1, (-1, -1, -1))
    assert kept.lists == (0,) * 8, "unused, for C++ has no empty arrays"


def test_what_several_rows_write_shares_no_place(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        x, y = k.array("x", k.input("x")), k.result("y")

        def twice(row: Row) -> None:
            value = row.load(x, 0)
            row.store(y, 1, value)
            row.store(y, 2, value)

        k.loop([(0, 10, 20), (1, 11, 21), (0, 12, 22), (1, 13, 13)], twice)
        k.loop([(0, 20)], lambda row: row.store(y, 1, row.load(x, 0) + 1.0))
        k.loop([(0, 21)], lambda row: row.accumulate(y, 1, row.load(x, 0)))

    kernel = kernel_of(toy("pairs", {"x": "nv"}, {"y": "90"}, emit), pendulum)
    places = layouts(kernel)["y"].place
    assert places(12) == places(22)
    assert len({places(i) for i in (10, 20, 11, 21, 12, 13)}) == 6


def test_dense_outputs_keep_their_places(pendulum: Model) -> None:
    few = toy(
        "few",
        {"x": "nv"},
        {"y": "90"},
        lambda k: k.output("y", [*(x * i for i in range(1, 41) for x in k.input("x")), *[0.0] * 10]),
    )
    assert not layouts(kernel_of(few, pendulum))["y"].places


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("algorithm", [SPARSE, LOOPED, LONG_ROWS], ids=lambda a: a.name)
@pytest.mark.parametrize("batch", [1, 13, 45, 15000])
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
        f"double ws[grid::{algorithm.name}_scratch()]; grid::{algorithm.name}(x, y, ws); }}\n"
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
