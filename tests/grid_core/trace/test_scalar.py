"""Folding, common subexpressions, determinism, and what a scalar refuses."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid_core.errors import TraceError
from grid_core.trace import Graph, Scalar, fabs, sin
from grid_core.trace.scalar import div, neg, reachable
from tests.grid_core.trace.expressions import NUMERIC, Step, programs, run, trace, value


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def x(graph: Graph) -> Scalar:
    return graph.node("input", (), ("q", 0))


@pytest.fixture
def y(graph: Graph) -> Scalar:
    return graph.node("input", (), ("q", 1))


def test_zeros_and_ones_leave_no_operation(graph: Graph, x: Scalar) -> None:
    assert 0.0 * x == 0.0
    assert 0.0 / x == 0.0
    assert x - x == 0.0
    for same in (x + 0.0, 0.0 + x, x - 0.0, 1.0 * x, x * 1.0, x / 1.0, neg(-x), -1.0 * -x):
        assert same is x
    assert graph.nodes[-1].op == "neg", "only the negation was built"


def test_constants_of_sums_and_products_gather(x: Scalar) -> None:
    product = 3.0 * (2.0 * x)
    assert isinstance(product, Scalar)
    assert (product.op, product.args) == ("mul", (6.0, x))
    total = (x + 1.0) - 3.0
    assert isinstance(total, Scalar)
    assert (total.op, total.args) == ("add", (-2.0, x))
    assert (x + 2.0) - 2.0 is x
    halved = x / 2.0
    assert isinstance(halved, Scalar)
    assert (halved.op, halved.args) == ("mul", (0.5, x)), "division by a constant is a product"


def test_signs_move_out_of_operations(x: Scalar, y: Scalar) -> None:
    assert (-x) * y is -(x * y)
    assert x * (-y) is (-x) * y
    assert (-x) * (-y) is x * y
    assert (-x) / y is -(x / y)
    assert x / (-y) is -(x / y)
    assert x + (-y) is x - y
    assert (-x) + y is y - x
    assert x - (-y) is x + y
    assert -(x - y) is y - x
    assert (-x) - y is -(x + y)
    assert -(2.0 * x) is -2.0 * x
    assert 0.0 - x is -x


def test_equal_nodes_are_built_once(graph: Graph, x: Scalar, y: Scalar) -> None:
    assert x + y is y + x
    assert x * y is y * x
    assert x - y is not y - x
    count = len(graph.nodes)
    assert sin(x) * (x + y) is (y + x) * sin(x)
    assert len(graph.nodes) == count + 2
    assert graph.node("input", (), ("q", 0)) is x


def test_integers_and_numpy_numbers_are_constants(x: Scalar) -> None:
    assert x * 2 is x * 2.0
    assert np.float64(2.0) * x is x * 2.0
    assert x + np.float32(0.5) is x + 0.5
    total = x + 1
    assert isinstance(total, Scalar)
    assert type(total.args[0]) is float


def test_minus_zero_cannot_hide_behind_zero(graph: Graph, x: Scalar) -> None:
    assert graph.node("input", (), ("q", 0)) is x
    from grid_core.trace import atan2

    assert atan2(x, -0.0) is atan2(x, 0.0)
    node = atan2(x, 0.0)
    assert isinstance(node, Scalar)
    assert math.copysign(1.0, node.args[1]) == 1.0  # type: ignore[arg-type]


def test_scopes_forget_what_a_loop_body_made(graph: Graph, x: Scalar, y: Scalar) -> None:
    before = x + y
    graph.open_scope()
    inside = x * y
    assert x + y is before, "a body may use what exists"
    assert x * y is inside
    graph.close_scope()
    assert x * y is not inside


def test_a_scalar_has_no_truth_value(x: Scalar) -> None:
    with pytest.raises(TraceError, match=r"no truth value.*select\(less\(a, b\), x, y\)"):
        bool(x)


def test_comparisons_say_what_to_use_instead(x: Scalar, y: Scalar) -> None:
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        for left, right in ((x, y), (x, 1.0), (1, x)):
            with pytest.raises(TraceError, match="no truth value"):
                compare(left, right)


def test_functions_of_math_and_numpy_are_refused(x: Scalar) -> None:
    for function in (math.sin, float, np.float64):
        with pytest.raises(TraceError, match=r"use those of grid_core\.trace, such as sin\(x\)"):
            function(x)


def test_whole_powers_are_products(x: Scalar) -> None:
    assert x**0 == 1.0
    assert x**1 is x
    assert x**2 is x * x
    assert x**5 is (x * x) * (x * x) * x
    assert x**-2 is 1.0 / (x * x)
    for exponent in (0.5, 2.0, x):
        with pytest.raises(TraceError, match=r"q\[0\] \*\* .*: only whole powers; sqrt\(x\), or exp\("):
            x**exponent


def test_two_kernels_do_not_mix(x: Scalar) -> None:
    other = Graph().node("input", (), ("q", 0))
    with pytest.raises(TraceError, match="two kernels meet"):
        x + other


def test_division_by_the_constant_zero(x: Scalar) -> None:
    for numerator in (x, 1.0, 0.0):
        with pytest.raises(TraceError, match="division by the constant zero"):
            div(numerator, 0.0)
    with pytest.raises(TraceError, match="division by the constant zero"):
        x / -0.0


def test_scalars_print_what_they_are(x: Scalar) -> None:
    assert repr(x) == "q[0]"
    assert repr(fabs(x)) == f"abs#{x.id + 1}"


def test_reachable_is_sorted_and_leaves_out_the_dead(x: Scalar, y: Scalar) -> None:
    dead, live = x * y, sin(x + y)
    found = reachable([live, 3.0])
    assert [n.id for n in found] == sorted(n.id for n in found)
    assert dead not in found
    assert found[-1] is live


@given(programs(), st.integers(0, 2**32 - 1))
def test_folding_keeps_values(program: list[Step], seed: int) -> None:
    points = np.random.default_rng(seed).uniform(-2.0, 2.0, (5, 3))
    graph, _, results = trace(program)
    expected = np.stack([y * np.ones(5) for y in run(program, NUMERIC, list(points.T))], axis=1)
    np.testing.assert_allclose(value(graph, results, points), expected, rtol=1e-11, atol=1e-11)


@given(programs())
def test_tracing_is_deterministic_and_topological(program: list[Step]) -> None:
    def shape(nodes: list[Scalar]) -> list[tuple[object, ...]]:
        return [(n.op, n.data, *(("node", a.id) if isinstance(a, Scalar) else a for a in n.args)) for n in nodes]

    first, second = trace(program)[0], trace(program)[0]
    assert shape(first.nodes) == shape(second.nodes)
    assert len(set(shape(first.nodes))) == len(first.nodes), "two nodes of one graph are equal"
    for number, node in enumerate(first.nodes):
        assert node.id == number
        assert all(a.id < number for a in node.args if isinstance(a, Scalar))
