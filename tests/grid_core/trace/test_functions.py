"""Elementary functions: constants, parity, domains, and NaN."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from grid_core import trace as t
from grid_core.errors import TraceError
from grid_core.trace import Graph, Real, Scalar
from tests.grid_core.trace.expressions import value

NAN = math.nan


@pytest.fixture
def x() -> Scalar:
    return Graph().node("input", (), ("x", 0))


@pytest.mark.parametrize(
    ("function", "reference", "at"),
    [
        (t.sqrt, math.sqrt, 2.0),
        (t.sin, math.sin, 0.3),
        (t.cos, math.cos, 0.3),
        (t.exp, math.exp, -0.7),
        (t.log, math.log, 0.7),
        (t.tanh, math.tanh, 0.7),
        (t.fabs, abs, -0.7),
    ],
)
def test_constants_fold(function: Callable[[Real], Real], reference: Callable[[float], float], at: float) -> None:
    result = function(at)
    assert type(result) is float
    assert result == reference(at)
    assert type(function(np.float32(0.5))) is float


def test_parity(x: Scalar) -> None:
    assert t.sin(-x) is -t.sin(x)
    assert t.tanh(-x) is -t.tanh(x)
    assert t.cos(-x) is t.cos(x)
    assert t.fabs(-x) is t.fabs(x)


@pytest.mark.parametrize(("function", "at"), [(t.sqrt, -1.0), (t.log, 0.0), (t.exp, 1000.0)])
def test_constants_outside_the_domain(function: Callable[[Real], Real], at: float) -> None:
    with pytest.raises(TraceError, match=r"while tracing.*constant outside the domain"):
        function(at)


def test_two_argument_functions_fold(x: Scalar) -> None:
    assert t.atan2(1.0, -2.0) == math.atan2(1.0, -2.0)
    assert (t.minimum(1.0, 2.0), t.maximum(1.0, 2.0)) == (1.0, 2.0)
    assert t.minimum(x, x) is x
    assert t.maximum(x, x) is x
    assert t.minimum(x, 2.0) is t.minimum(2.0, x)


@pytest.mark.parametrize("function", [t.minimum, t.maximum])
def test_constant_nan_wins_from_either_side(function: Callable[[Real, Real], Real]) -> None:
    assert math.isnan(function(NAN, 1.0))  # type: ignore[arg-type]
    assert math.isnan(function(1.0, NAN))  # type: ignore[arg-type]


def test_comparisons_of_constants_are_plain_booleans(x: Scalar) -> None:
    assert t.less(1.0, 2.0) is True
    assert t.less_equal(np.float64(2.0), np.float64(2.0)) is True
    assert t.equal(np.float64(1.0), 2.0) is False
    assert t.select(t.less(np.float64(1.0), np.float64(2.0)), x, -x) is x


def test_select_of_equal_branches_is_no_selection(x: Scalar) -> None:
    condition = t.less(x, 0.0)
    assert t.select(condition, x, x) is x
    assert t.select(condition, float("2.5"), float("2.5")) == 2.5, "equal constants in different objects"
    signs = t.select(condition, -0.0, 0.0)
    assert isinstance(signs, Scalar)


def test_truth_values_are_no_numbers(x: Scalar) -> None:
    truth = t.less(x, 0.0)
    assert isinstance(truth, Scalar)
    wrong: list[Callable[[], object]] = [
        lambda: truth + x,
        lambda: 2.0 * truth,
        lambda: -truth,
        lambda: t.sqrt(truth),
        lambda: t.less(truth, x),
        lambda: t.select(truth, truth, x),
        lambda: t.select(x, 1.0, 2.0),
    ]
    for operation in wrong:
        with pytest.raises(TraceError, match=r"truth values, which are no numbers; .* select\(less\(a, b\), x, y\)"):
            operation()
    assert isinstance(t.select(truth, 1.0, x), Scalar)


def test_nan_and_infinity_at_run_time() -> None:
    graph = Graph()
    a, b = (graph.node("input", (), ("x", i)) for i in range(2))
    results: list[Real] = [
        t.minimum(a, b),
        t.maximum(a, b),
        t.select(t.less(a, b), a, b),
        t.select(t.less_equal(a, b), 1.0, 2.0),
        t.select(t.equal(a, b), 1.0, 2.0),
        t.fabs(a),
        t.select(t.less(a, 10.0), 3.0, t.sqrt(a)),
    ]
    points = np.array([[NAN, 1.0], [1.0, NAN], [-np.inf, np.inf], [np.inf, np.inf], [-4.0, 2.0]])
    lowest, highest, chosen, order, same, size, guarded = value(graph, results, points).T
    np.testing.assert_array_equal(lowest, [NAN, NAN, -np.inf, np.inf, -4.0])
    np.testing.assert_array_equal(highest, [NAN, NAN, np.inf, np.inf, 2.0])
    np.testing.assert_array_equal(chosen, [1.0, NAN, -np.inf, np.inf, -4.0])
    np.testing.assert_array_equal(order, [2.0, 2.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(same, [2.0, 2.0, 2.0, 1.0, 2.0])
    np.testing.assert_array_equal(size, [NAN, 1.0, np.inf, np.inf, 4.0])
    np.testing.assert_array_equal(guarded, [NAN, 3.0, 3.0, np.inf, 3.0], "a branch not taken has no influence")
