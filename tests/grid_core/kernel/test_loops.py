"""Loops over tables: the interpreter, compiled code and plain NumPy agree; what a body must not do is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grid_core.errors import TraceError
from grid_core.kernel import KernelBuilder, evaluate, trace_algorithm
from grid_core.kernel.builder import Row
from grid_core.kernel.kernel import Kernel, Loop
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm
from grid_core.toolchains import CxxCompiler
from grid_core.trace import cos, fabs, less, maximum, select, sin
from tests.grid_core.units import compile_algorithm, toy

Array = NDArray[Any]
PAIRS = [(i, j, 4 * i + j) for i in range(4) for j in range(i + 1)]


def trace(model: Model, algorithm: Algorithm) -> Kernel:
    return trace_algorithm(algorithm, model, {})


def outer_products(k: KernelBuilder) -> None:
    """Store, with captured outer values: an input, a number, a computed value, a comparison."""
    x, s = k.input("x"), k.input("s")
    scale, mask = sin(s[0]) * 2.0, less(s[0], s[1])
    source = k.array("source", x)
    result = k.array("result", [0.0] * 16)

    def body(row: Row) -> None:
        product = row.load(source, 0) * row.load(source, 1) * scale
        row.store(result, 2, select(mask, product, -product + s[1]))

    k.loop(PAIRS, body)
    k.output("y", result.values())


def outer_products_by_numpy(x: Array, s: Array) -> Array:
    y = np.zeros((len(x), 16))
    for i, j, ij in PAIRS:
        product = x[:, i] * x[:, j] * np.sin(s[:, 0]) * 2.0
        y[:, ij] = np.where(s[:, 0] < s[:, 1], product, s[:, 1] - product)
    return y


def sums(k: KernelBuilder) -> None:
    """Accumulate with offsets, twice into one slot in a row; the second loop reads what the first wrote."""
    x = k.array("x", k.input("x"))
    total = k.array("total", [k.input("s")[0], 0.0, 1.5])
    k.loop([(i, i % 2) for i in range(3)], lambda row: row.accumulate(total, 1, row.load(x, 0, offset=1), offset=1))
    between = total.values()

    def second(row: Row) -> None:
        row.accumulate(total, 0, row.load(total, 1) * 0.5)
        row.accumulate(total, 0, 1.0)

    k.loop([(0, 1), (1, 2), (2, 0)], second)
    k.output("y", [*between, *total.values(), between[1] * total.values()[1]])


def sums_by_numpy(x: Array, s: Array) -> Array:
    t = np.stack([s[:, 0], np.zeros(len(x)), np.full(len(x), 1.5)], axis=1)
    for i in range(3):
        t[:, 1 + i % 2] += x[:, i + 1]
    between = t.copy()
    for a, b in [(0, 1), (1, 2), (2, 0)]:
        t[:, a] += 0.5 * t[:, b]
        t[:, a] += 1.0
    return np.concatenate([between, t, between[:, 1:2] * t[:, 1:2]], axis=1)


def rotations(k: KernelBuilder) -> None:
    """Loads see what earlier rows wrote, and not the stores of their own row; branches and sines inside a body."""
    w = k.array("w", k.input("x"))

    def body(row: Row) -> None:
        a, b = row.load(w, 0), row.load(w, 1)
        row.store(w, 0, sin(a) + maximum(b, 0.25))
        row.store(w, 1, select(less(a, b), cos(a), fabs(b)))

    k.loop([(0, 1), (1, 2), (2, 3), (3, 0)], body)
    k.output("y", w.values())


def rotations_by_numpy(x: Array, s: Array) -> Array:
    w = x.copy()
    for i, j in [(0, 1), (1, 2), (2, 3), (3, 0)]:
        a, b = w[:, i].copy(), w[:, j].copy()
        w[:, i] = np.sin(a) + np.maximum(b, 0.25)
        w[:, j] = np.where(a < b, np.cos(a), np.abs(b))
    return w


CASES = [
    (outer_products, outer_products_by_numpy, 16),
    (sums, sums_by_numpy, 7),
    (rotations, rotations_by_numpy, 4),
]


@pytest.mark.parametrize(("emit", "reference", "size"), CASES)
def test_three_ways_agree(
    emit: Callable[[KernelBuilder], None],
    reference: Callable[[Array, Array], Array],
    size: int,
    pendulum: Model,
    cxx: CxxCompiler,
    tmp_path: Path,
) -> None:
    algorithm = toy("looped", {"x": "4", "s": "2"}, {"y": str(size)}, emit)
    random = np.random.default_rng(1)
    x, s = random.normal(size=(21, 4)), random.normal(size=(21, 2))
    expected = reference(x, s)
    assert np.ptp(np.sign(s[:, 0] - s[:, 1])) == 2, "both branches are taken"
    interpreted = evaluate(trace(pendulum, algorithm), {"x": x, "s": s})["y"]
    np.testing.assert_allclose(interpreted, expected, rtol=1e-13, atol=1e-14)
    unit = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum)
    np.testing.assert_allclose(unit("looped", {"x": x, "s": s}, 21)["y"], expected, rtol=1e-13, atol=1e-14)


def test_operations_count_every_row(pendulum: Model) -> None:
    kernel = trace(pendulum, toy("looped", {"x": "4", "s": "2"}, {"y": "16"}, outer_products))
    assert kernel.operations() == {
        "sin": 1, "mul": 1 + 2 * len(PAIRS), "lt": 1, "sub": len(PAIRS), "select": len(PAIRS),
    }  # fmt: skip
    (loop,) = (a for a in kernel.actions if isinstance(a, Loop))
    assert {n.op for n in loop.captured()} == {"mul", "lt", "input"}, "row-independent values stay outside"


def test_values_are_those_of_the_moment(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", [1.0, 2.0])
        before = w.values()
        assert w.values() == before, "nothing has happened in between"
        k.loop([(0,), (1,)], lambda row: row.store(w, 0, row.load(w, 0) * 10.0))
        assert w.values() != before
        k.output("y", [*before, *w.values()])

    kernel = trace(pendulum, toy("moments", {"x": "1"}, {"y": "4"}, emit))
    np.testing.assert_array_equal(evaluate(kernel, {})["y"], [[1.0, 2.0, 10.0, 20.0]])


def test_nothing_to_do_is_no_loop(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", k.input("x"))
        k.loop([], lambda row: row.store(w, 0, 0.0))
        k.loop([(0,), (1,)], lambda row: None)
        k.loop([(), ()], lambda row: None)
        k.output("y", w.values())

    kernel = trace(pendulum, toy("idle", {"x": "nv"}, {"y": "nv"}, emit))
    assert not [a for a in kernel.actions if isinstance(a, Loop)]


def test_tables_may_be_numpy_arrays(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", k.input("x"))
        k.loop(np.arange(2).reshape(2, 1), lambda row: row.accumulate(w, 0, 1.0))  # type: ignore[arg-type]
        k.output("y", w.values())

    kernel = trace(pendulum, toy("numpy", {"x": "nv"}, {"y": "nv"}, emit))
    (loop,) = (a for a in kernel.actions if isinstance(a, Loop))
    assert repr(loop.table) == "((0,), (1,))"


def test_arrays_and_outputs_may_share_a_name(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        first = k.array("w", [1.0])
        others = [k.array("w1", [float(i)]) for i in range(12)]
        k.output("w0", [7.0])
        k.output("y", [*first.values(), *(x for w in others for x in w.values())])

    kernel = trace(pendulum, toy("names", {"x": "1"}, {"w0": "1", "y": "13"}, emit))
    results = evaluate(kernel, {})
    np.testing.assert_array_equal(results["w0"], [[7.0]])
    np.testing.assert_array_equal(results["y"], [[1.0, *range(12)]])


def _leak(k: KernelBuilder) -> None:
    w, leaked = k.array("w", k.input("x")), []

    def body(row: Row) -> None:
        leaked.append(row.load(w, 0))
        row.store(w, 0, leaked[0] * 2.0)

    k.loop([(0,), (1,)], body)
    k.output("y", [leaked[0], 0.0])


def _with_body(body: Callable[[KernelBuilder, Any, Row], None]) -> Callable[[KernelBuilder], None]:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", k.input("x"))
        k.loop([(0,), (1,)], lambda row: body(k, w, row))
        k.output("y", w.values())

    return emit


REFUSED: list[tuple[Callable[[KernelBuilder], None], str]] = [
    (lambda k: k.loop([(0,), (0, 1)], lambda row: None), r"bad: rows of a loop table have different lengths \[1, 2\]"),
    (_with_body(lambda k, w, row: row.store(w, 1, 0.0)), "loop table has 1 columns, column 1 does not exist"),
    (_with_body(lambda k, w, row: row.store(w, -1, 0.0)), "column -1 does not exist"),
    (_with_body(lambda k, w, row: row.store(w, 0, 0.0, offset=1)), "reaches slot 2 of an array with 2"),
    (_with_body(lambda k, w, row: row.accumulate(w, 0, row.load(w, 0, offset=-1))), "reaches slot -1 of an array"),
    (_with_body(lambda k, w, row: k.loop([(0,)], lambda inner: None)), r"k.loop\(\) inside the body of a loop"),
    (_with_body(lambda k, w, row: k.array("v", [0.0]) and None), r"k.array\(\) inside the body of a loop"),
    (_leak, "used outside its loop"),
]


@pytest.mark.parametrize(("emit", "message"), REFUSED)
def test_what_a_loop_must_not_do(emit: Callable[[KernelBuilder], None], message: str, pendulum: Model) -> None:
    with pytest.raises(TraceError, match=message):
        trace(pendulum, toy("bad", {"x": "nv"}, {"y": "nv"}, emit))


def test_slots_of_none_are_for_loops_to_set(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        x, w = k.array("x", k.input("x")), k.array("w", [None, None, 5.0])
        k.loop([(0, 0), (1, 1)], lambda row: row.store(w, 1, row.load(x, 0)))
        k.output("y", w.values())

    kernel = trace(pendulum, toy("room", {"x": "2"}, {"y": "3"}, emit))
    assert [a.index for a in kernel.actions if not isinstance(a, Loop) and a.target.startswith("w.")] == [2]
    np.testing.assert_array_equal(evaluate(kernel, {"x": np.array([[3.0, 4.0]])})["y"], [[3.0, 4.0, 5.0]])


def test_outputs_of_a_callee_as_workspace(pendulum: Model) -> None:
    """Loops read them where they are: what the callee's loops left out is zero, what it set without loops is copied."""

    def partly(k: KernelBuilder) -> None:
        x, slots = k.array("x", k.input("x")), k.result("y")
        k.loop([(i, 2 * i) for i in range(2)], lambda row: row.accumulate(slots, 1, row.load(x, 0)))

    def whole(k: KernelBuilder) -> None:
        k.output("y", [2.0 * x for x in k.input("x")])

    def caller(k: KernelBuilder) -> None:
        results, slots = [k.call_workspace(name, x=k.input("x"))["y"] for name in callees], k.result("y")
        k.loop(
            [(i,) for i in range(4)], lambda row: row.store(slots, 0, row.load(results[0], 0) - row.load(results[1], 0))
        )

    shapes = {"x": "4"}, {"y": "4"}
    callees = {name: toy(name, *shapes, emit) for name, emit in (("partly", partly), ("whole", whole))}
    kernel = trace_algorithm(toy("caller", *shapes, caller, requires=tuple(callees)), pendulum, callees)
    found = evaluate(kernel, {"x": np.array([[1.0, 2.0, 3.0, 4.0]])})["y"][0]
    np.testing.assert_array_equal(found, [1.0 - 2.0, -4.0, 2.0 - 6.0, -8.0])
