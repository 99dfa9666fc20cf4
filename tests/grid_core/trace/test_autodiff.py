"""Forward and reverse derivatives against the complex step, differences, and each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grid_core import trace as t
from grid_core.errors import TraceError
from grid_core.trace import Graph, Real, Scalar, jacobian, jvp, vjp
from tests.grid_core.trace.expressions import Step, complex_step, programs, trace, value

SEEDS = st.integers(0, 2**32 - 1)
TIGHT = {"rtol": 1e-9, "atol": 1e-9}


@given(programs(), SEEDS)
def test_jvp_against_the_complex_step(program: list[Step], seed: int) -> None:
    random = np.random.default_rng(seed)
    points, direction = random.uniform(-2.0, 2.0, (4, 3)), random.uniform(-1.0, 1.0, 3)
    graph, x, results = trace(program)
    rates = jvp(results, dict(zip(x, map(float, direction))))
    expected = complex_step(program, points, direction)
    assume(np.all(np.isfinite(expected)))
    np.testing.assert_allclose(value(graph, rates, points), expected, **TIGHT)


@given(programs(), SEEDS)
def test_vjp_is_the_transpose_of_jvp(program: list[Step], seed: int) -> None:
    random = np.random.default_rng(seed)
    points = random.uniform(-2.0, 2.0, (4, 3))
    graph, x, results = trace(program)
    cotangents = list(map(float, random.uniform(-1.0, 1.0, len(results))))
    gradient = value(graph, vjp(results, cotangents, x), points)
    for column, scalar in enumerate(x):
        rates = value(graph, jvp(results, {scalar: 1.0}), points)
        np.testing.assert_allclose(gradient[:, column], rates @ cotangents, **TIGHT)


@given(programs(longest=8), SEEDS)
def test_jacobian_has_a_row_per_output(program: list[Step], seed: int) -> None:
    points = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, 3))
    graph, x, results = trace(program)
    rows = jacobian(results, [{x[0]: 1.0}, {x[1]: 2.0, x[2]: -1.0}])
    assert [len(row) for row in rows] == [2] * len(results)
    first = complex_step(program, points, np.array([1.0, 0.0, 0.0]))
    second = complex_step(program, points, np.array([0.0, 2.0, -1.0]))
    found = value(graph, [entry for row in rows for entry in row], points).reshape(3, len(results), 2)
    np.testing.assert_allclose(found, np.stack([first, second], axis=2), **TIGHT)


@given(programs(longest=6), SEEDS)
def test_second_derivatives_are_symmetric(program: list[Step], seed: int) -> None:
    points = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, 3))
    graph, (a, b, _), results = trace(program)
    ab = jvp(jvp(results, {a: 1.0}), {b: 1.0})
    ba = jvp(jvp(results, {b: 1.0}), {a: 1.0})
    np.testing.assert_allclose(value(graph, ab, points), value(graph, ba, points), **TIGHT)


def inputs(count: int) -> tuple[Graph, list[Scalar]]:
    graph = Graph()
    return graph, [graph.node("input", (), ("x", i)) for i in range(count)]


@pytest.mark.parametrize("seed", range(3))
def test_against_central_differences(seed: int) -> None:
    graph, (a, b) = inputs(2)
    results: list[Real] = [t.atan2(a, b), t.sqrt(a * a + b * b), t.exp(-a) / b, t.log(b) * t.sin(a * b), t.tanh(a / b)]
    points = np.random.default_rng(seed).uniform(0.5, 2.0, (6, 2))
    h = 1e-6
    for column, scalar in enumerate((a, b)):
        step = h * np.eye(2)[column]
        expected = (value(graph, results, points + step) - value(graph, results, points - step)) / (2 * h)
        np.testing.assert_allclose(value(graph, jvp(results, {scalar: 1.0}), points), expected, rtol=1e-7, atol=1e-8)


def test_structural_zeros_stay_zero() -> None:
    _, (a, b) = inputs(2)
    assert jvp([t.sin(b), 3.0, a], {a: 1.0}) == [0.0, 0.0, 1.0]
    assert vjp([t.sin(b), 3.0], [1.0, 1.0], [a]) == [0.0]
    assert jvp([t.sin(a)], {a: 0.0}) == [0.0]


def test_derivatives_share_the_primal_nodes() -> None:
    graph, (a,) = inputs(1)
    value_of = t.exp(t.sin(a))
    before = len(graph.nodes)
    (rate,) = jvp([value_of], {a: 1.0})
    assert [n.op for n in graph.nodes[before:]] == ["cos", "mul"], "exp is its own derivative"
    assert jvp([value_of], {a: 1.0})[0] is rate


def test_a_seed_in_the_middle_cuts_the_graph() -> None:
    graph, (a, b) = inputs(2)
    middle = a * b
    assert isinstance(middle, Scalar)
    result = middle * middle
    points = np.array([[2.0, 3.0]])
    assert value(graph, jvp([result], {middle: 1.0, a: 0.0}), points) == [[12.0]]
    assert value(graph, vjp([result], [1.0], [middle]), points) == [[12.0]]


def test_branches_that_are_not_taken_bring_no_nan() -> None:
    graph, (a,) = inputs(1)
    safe = t.select(t.less(0.0, a), t.sqrt(a), 0.0)
    points = np.array([[-1.0], [0.0], [4.0]])
    np.testing.assert_array_equal(value(graph, jvp([safe], {a: 1.0}), points), [[0.0], [0.0], [0.25]])


def test_conventions_at_kinks() -> None:
    graph, (a, b) = inputs(2)
    kinks: Sequence[Real] = [t.fabs(a), t.minimum(a, b), t.maximum(a, b)]
    tie = np.array([[0.0, 0.0]])
    np.testing.assert_array_equal(value(graph, jvp(kinks, {a: 1.0}), tie), [[0.0, 1.0, 1.0]])
    np.testing.assert_array_equal(value(graph, jvp(kinks, {b: 1.0}), tie), [[0.0, 0.0, 0.0]])
    sides = np.array([[-2.0, 1.0], [2.0, 1.0]])
    np.testing.assert_array_equal(value(graph, jvp(kinks, {a: 1.0}), sides), [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])


@pytest.mark.parametrize("op", ["load", "slot"])
def test_memory_has_no_derivative(op: str) -> None:
    graph, (a,) = inputs(1)
    read = graph.node(op, (), ("w", 0, 0))
    result = read * a
    with pytest.raises(TraceError, match=f"no derivative for '{op}'.*by hand"):
        jvp([result], {a: 1.0})
    with pytest.raises(TraceError, match=f"no derivative for '{op}'"):
        vjp([result], [1.0], [a])


def test_reverse_mode_keeps_out_what_other_branches_use() -> None:
    """Also where branches share values, lie in one another, and where the taken one has a slope of zero."""
    graph, (a, b) = inputs(2)
    root = t.sqrt(a)
    inner = t.select(t.less(b, 0.0), t.log(-b) * root, b / root)
    value_of = t.select(t.less(0.0, a), inner, b * b) + t.maximum(t.log(b), -1.0)
    points = np.array([[-1.0, 3.0], [0.0, 0.5], [4.0, -2.0], [4.0, 0.1], [4.0, 2.0]])
    for weight in (1.0, 0.0):
        gradient = value(graph, vjp([value_of], [weight], [a, b]), points)
        columns = [value(graph, jvp([value_of], {x: 1.0}), points)[:, 0] for x in (a, b)]
        np.testing.assert_allclose(gradient[:, 0], weight * columns[0], atol=1e-15)
        kept = points[:, 1] > 0.0  # elsewhere the logarithm outside of all branches has no value
        np.testing.assert_allclose(gradient[kept, 1], weight * columns[1][kept], atol=1e-15)
