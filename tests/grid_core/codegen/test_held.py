"""Inputs that most calls hold: what follows from them alone runs apart, and gives the same numbers either way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grid_core.codegen.held import HELD, divide
from grid_core.kernel import KernelBuilder, trace_algorithm
from grid_core.kernel.kernel import Kernel
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm
from grid_core.toolchains import CxxCompiler
from grid_core.trace import less, minimum, select, sqrt
from tests.grid_core.units import Array, compile_algorithm, toy

K = 5


def emit(k: KernelBuilder) -> None:
    x, w, c = k.input("x"), k.input("w"), k.input("c")
    roots = [sqrt(a * a + 1.0) for a in w]
    chosen = select(less(c[0], c[1]), roots[0], x[0])
    k.output("y", [*(a * b + minimum(c[0], b) - chosen for a, b in zip(roots, x)), roots[1], 2.0])
    k.output("still", [[a * b for b in (*c, 0.0)] for a in roots])


def weighted() -> Algorithm:
    declared = toy("weighted", {"x": "5", "w": "5", "c": "2"}, {"y": "7", "still": ("5", "3")}, emit)
    x, *others = declared.inputs
    return replace(declared, inputs=(x, *(replace(other, held=True) for other in others)))


def expected(x: Array, w: Array, c: Array) -> tuple[Array, Array]:
    w, c = np.broadcast_to(w, x.shape), np.broadcast_to(c, (len(x), 2))
    roots = np.sqrt(w * w + 1.0)
    chosen = np.where(c[:, 0] < c[:, 1], roots[:, 0], x[:, 0])[:, None]
    y = np.hstack([roots * x + np.minimum(c[:, :1], x) - chosen, roots[:, 1:2], np.full((len(x), 1), 2.0)])
    padded = np.hstack([c, np.zeros((len(x), 1))])
    return y, (roots[:, :, None] * padded[:, None, :]).reshape(len(x), -1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_shared_or_not_the_numbers_are_the_same(tmp_path: Path, cxx: CxxCompiler, dtype: str) -> None:
    unit = compile_algorithm(cxx, weighted(), tmp_path, dtype=dtype)
    generator = np.random.default_rng(0)
    for batch in (1, 3, 16, 45):
        x, w, c = (generator.normal(size=(batch, n)).astype(dtype) for n in (K, K, 2))
        for shared_w, shared_c in ((False, False), (True, False), (True, True)):
            given = {"x": x, "w": w[0] if shared_w else w, "c": c[0] if shared_c else c}
            found = unit("weighted", given, batch)
            repeated = {name: np.repeat(a[None], batch, 0) if a.ndim == 1 else a for name, a in given.items()}
            for ours, same, right in zip(
                found.values(), unit("weighted", repeated, batch).values(), expected(x, given["w"], given["c"])
            ):
                np.testing.assert_array_equal(ours, same)
                np.testing.assert_allclose(ours, right, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-6)


def test_an_input_that_is_left_out_is_zero(tmp_path: Path, cxx: CxxCompiler) -> None:
    unit = compile_algorithm(cxx, weighted(), tmp_path)
    x = np.random.default_rng(1).normal(size=(20, K))
    for ours, right in zip(unit("weighted", {"x": x}, 20).values(), expected(x, np.zeros(K), np.zeros(2))):
        np.testing.assert_allclose(ours, right, rtol=1e-13, atol=1e-13)


def kernel_of(algorithm: Algorithm, model: Model) -> Kernel:
    return trace_algorithm(algorithm, model, {algorithm.name: algorithm})


def test_what_is_held_is_not_computed_again(pendulum: Model) -> None:
    divided = divide(kernel_of(weighted(), pendulum))
    assert divided is not None
    assert [output.name for output in divided.first.outputs] == [HELD, "still"]
    assert [output.name for output in divided.rest.outputs] == ["y"]
    assert divided.first.operations()["sqrt"] == K
    assert "sqrt" not in divided.rest.operations()
    assert divided.rest.inputs[-1].size == K  # the roots; the mask is made where it is read


def test_nothing_is_divided_without_need_or_with_loops(pendulum: Model) -> None:
    declared = weighted()
    free = replace(declared, inputs=tuple(replace(i, held=False) for i in declared.inputs))
    assert divide(kernel_of(free, pendulum)) is None

    def looped(k: KernelBuilder) -> None:
        rows, x, y = k.array("rows", k.input("w")), k.input("x"), k.result("y")
        k.loop([(i,) for i in range(K)], lambda row: row.store(y, 0, row.load(rows, 0) * x[0]))

    loop = toy("looped", {"x": "5", "w": "5"}, {"y": "5"}, looped)
    x, w = loop.inputs
    assert divide(kernel_of(replace(loop, inputs=(x, replace(w, held=True))), pendulum)) is None
