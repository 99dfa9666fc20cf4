"""Random expressions: compiled code in both precisions against NumPy, special values included."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from grid_core import trace as t
from grid_core.kernel import KernelBuilder, evaluate, trace_algorithm
from grid_core.model import Model
from grid_core.toolchains import CxxCompiler
from grid_core.trace import Real, Scalar
from tests.grid_core.trace.expressions import NUMERIC, SYMBOLIC, Array, Step, run
from tests.grid_core.units import compile_algorithm, toy

PROGRAMS = 40


def random_program(random: np.random.Generator) -> list[Step]:
    operations = sorted(SYMBOLIC)
    return [
        (operations[random.integers(len(operations))], *map(int, random.integers(3 + n, size=2)), float(c))
        for n, c in enumerate(random.choice([0.0, 1.0, -1.0, 0.75, -2.5], size=8))
    ]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-4)])
def test_random_programs(dtype: str, tolerance: float, pendulum: Model, cxx: CxxCompiler, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    programs = [random_program(random) for _ in range(PROGRAMS)]

    def emit(k: KernelBuilder) -> None:
        k.output("y", [value for p in programs for value in run(p, SYMBOLIC, k.input("x"))])

    algorithm = toy("programs", {"x": "3"}, {"y": str(8 * PROGRAMS)}, emit)
    x = random.uniform(-2.0, 2.0, (37, 3)).astype(dtype).astype(float)
    expected = np.stack([y * np.ones(37) for p in programs for y in run(p, NUMERIC, list(x.T))], axis=1)
    interpreted = evaluate(trace_algorithm(algorithm, pendulum, {}), {"x": x})["y"]
    np.testing.assert_allclose(interpreted, expected, rtol=1e-11, atol=1e-11)
    unit = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum, dtype=dtype)
    compiled = unit("programs", {"x": x}, 37)["y"].astype(float)
    close = np.abs(compiled - expected) <= tolerance * (1.0 + np.abs(expected))
    assert close.mean() > 0.99, "branches may fall apart by rounding, and nothing else may"
    np.testing.assert_array_equal(unit("programs", {"x": x[5:6]}, 1)["y"][0], compiled[5], "a row does not see others")


def special(a: Real, b: Real) -> list[Real]:
    return [
        t.minimum(a, b), t.maximum(a, b), t.minimum(b, a), t.maximum(b, a), t.fabs(a),
        t.select(t.less(a, b), a, b), t.select(t.less_equal(a, b), 1.0, 2.0), t.select(t.equal(a, b), 1.0, 2.0),
        t.minimum(a, math.inf), t.maximum(a, -math.inf), t.select(t.less(a, b), math.nan, a),
        t.select(t.less(0.0, a), t.sqrt(a), 0.0), t.atan2(a, b), t.minimum(a, math.nan),
    ]  # fmt: skip


def test_special_values(pendulum: Model, cxx: CxxCompiler, tmp_path: Path) -> None:
    edges = [0.0, 1.0, -2.5, math.inf, -math.inf, math.nan, 1e300, 5e-324]
    x: Array = np.array([(a, b) for a in edges for b in edges])
    algorithm = toy("special", {"x": "2"}, {"y": "14"}, lambda k: k.output("y", special(*k.input("x"))))
    unit = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum)
    interpreted = evaluate(trace_algorithm(algorithm, pendulum, {}), {"x": x})["y"]
    compiled = unit("special", {"x": x}, len(x))["y"]
    np.testing.assert_allclose(compiled, interpreted, rtol=1e-15)
    assert np.isnan(interpreted[:, -1]).all()
    np.testing.assert_array_equal(interpreted[:, 8], x[:, 0], "the minimum with infinity is the value, NaN included")


def test_infinite_constants_survive_folding(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        (a,) = k.input("x")
        sums = [a + math.inf, math.inf - a]
        assert all(isinstance(s, Scalar) for s in sums)
        k.output("y", sums)

    kernel = trace_algorithm(toy("inf", {"x": "1"}, {"y": "2"}, emit), pendulum, {})
    np.testing.assert_array_equal(
        evaluate(kernel, {"x": np.array([[3.0], [math.nan]])})["y"], [[math.inf] * 2, [math.nan] * 2]
    )
