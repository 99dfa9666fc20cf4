"""Cutting into functions: whatever the size of the pieces, the same numbers come out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from grid_core.codegen import render
from grid_core.codegen.layout import layouts
from grid_core.codegen.pieces import leaves_of
from grid_core.codegen.schedule import NEAR, STATEMENT_BUDGET, Schedule, schedule
from grid_core.kernel import KernelBuilder, evaluate, trace_algorithm
from grid_core.kernel.kernel import Kernel
from grid_core.model import Model, load_model
from grid_core.plugins.manager import load_catalogue
from grid_core.toolchains import CxxCompiler
from grid_core.trace import Scalar, cos, less, select, sin
from tests.grid_core.units import GOLDEN, compile_algorithm, toy


@pytest.fixture(scope="module")
def iiwa() -> Model:
    return load_model(GOLDEN / "iiwa14.urdf")


@pytest.fixture(scope="module")
def gradient(iiwa: Model) -> Kernel:
    algorithms = load_catalogue().algorithms
    return trace_algorithm(algorithms["inverse_dynamics_gradient"], iiwa, algorithms)


@pytest.mark.parametrize("budget", [1, 50, 2500])
def test_pieces_hand_values_on(gradient: Kernel, budget: int) -> None:
    plan = schedule(gradient, layouts(gradient), budget)
    check_slots(plan)
    assert all(piece.events for piece in plan.pieces)
    if budget == 50:
        assert max(piece.operations for piece in plan.pieces) <= budget + 10
        assert len(plan.pieces) > 50


def test_stores_count_too(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", [0.0] * (2 * STATEMENT_BUDGET) + k.input("x"))
        k.output("y", w.values()[-1:])

    kernel = trace_algorithm(toy("long", {"x": "1"}, {"y": "1"}, emit), pendulum, {})
    plan = schedule(kernel, layouts(kernel))
    check_slots(plan)
    assert [len(piece.events) for piece in plan.pieces] == [STATEMENT_BUDGET, STATEMENT_BUDGET, 3]


def check_slots(plan: Schedule) -> None:
    """Run the slots: every load finds the value that was saved for it, and no slot is taken while it is needed."""
    slots: dict[int, int] = {}
    for piece in plan.pieces:
        known: set[int] = set()
        for _, event in piece.staged():
            for x in leaves_of(event, plan.inlined):
                if x.id not in known:
                    assert slots[piece.loads[x.id]] == x.id, "the slot was used for something else in between"
                    known.add(x.id)
            if isinstance(event, Scalar):
                known.add(event.id)
                if event.id in piece.saves:
                    slots[piece.saves[event.id]] = event.id
        assert all(0 <= slot < plan.slots for slot in (*piece.loads.values(), *piece.saves.values()))


def test_slots_are_reused(gradient: Kernel) -> None:
    plan = schedule(gradient, layouts(gradient), 50)
    handed_on = {node for piece in plan.pieces for node in piece.saves}
    assert plan.slots < 0.8 * len(handed_on)
    assert schedule(gradient, layouts(gradient), 10**9).slots == 0, "one function needs no workspace"


def test_a_function_saves_into_slots_that_it_has_read(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        values = [sin(x) for x in k.input("x")]
        for _ in range(6):
            values = [sin(a) for a in values]
        k.output("y", values)

    kernel = trace_algorithm(toy("swapped", {"x": "4"}, {"y": "4"}, emit), pendulum, {})
    plan = schedule(kernel, layouts(kernel), 4, order=list)
    check_slots(plan)
    assert plan.slots == 4


@pytest.mark.parametrize(("way", "written_in_place"), [(NEAR // 2, 2), (2 * NEAR, 1)])
def test_what_is_read_far_away_waits_as_one_value(way: int, written_in_place: int, pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        a, b = (sin(x) for x in k.input("x"))
        product, last = a * b, a
        for _ in range(way):
            last = sin(last)
        k.output("y", [last, product + b * 0.5])

    kernel = trace_algorithm(toy("far", {"x": "2"}, {"y": "2"}, emit), pendulum, {})
    plan = schedule(kernel, layouts(kernel), order=list)
    products = {n.id for n in kernel.nodes() if n.op == "mul"}
    assert len(products & plan.inlined) == written_in_place


def test_small_functions_compute_the_same(
    iiwa: Model, gradient: Kernel, cxx: CxxCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithms = load_catalogue().algorithms
    algorithm = algorithms["inverse_dynamics_gradient"]
    random = np.random.default_rng(2)
    inputs = {a.name: random.normal(size=(11, a.size)) for a in gradient.inputs}
    results = {}
    for budget in (50, 2500):
        monkeypatch.setattr(render, "schedule", partial(schedule, budget=budget))
        unit = compile_algorithm(cxx, algorithm, tmp_path / str(budget), model=iiwa, algorithms=algorithms)
        (results[budget],) = unit(gradient.name, inputs, 11).values()
    (expected,) = evaluate(gradient, inputs).values()
    scale = np.abs(expected).max()
    np.testing.assert_allclose(results[50], results[2500], rtol=1e-12, atol=1e-13 * scale)
    np.testing.assert_allclose(results[50], expected, rtol=1e-11, atol=1e-12 * scale)


def awkward(k: KernelBuilder) -> None:
    """Twins of sine and cosine far apart, masks used late, loops between pieces, constant outputs, inputs passed on."""
    x = k.input("x")
    early, mask = [sin(a) for a in x], less(x[0], x[1])
    w = k.array("w", early)
    products = [a * b + 1.0 for a in early for b in early]
    k.loop([(0, 1), (1, 2)], lambda row: row.accumulate(w, 0, row.load(w, 1) * select(mask, products[3], x[2])))
    late = [cos(a) * p for a, p in zip(x, products)]
    k.output("y", [*w.values(), *late, select(mask, late[0], products[8]), 0.0, 2.5, x[2], products[4]])


@pytest.mark.parametrize("budget", [1, 3, 8, 2500])
def test_awkward_kernels(
    budget: int, pendulum: Model, cxx: CxxCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithm = toy("awkward", {"x": "3"}, {"y": "11"}, awkward)
    kernel = trace_algorithm(algorithm, pendulum, {})
    plan = schedule(kernel, layouts(kernel), budget)
    check_slots(plan)
    assert [(s.index, s.value) for s in plan.constants] == [(8, 2.5)]
    monkeypatch.setattr(render, "schedule", partial(schedule, budget=budget))
    x = np.random.default_rng(4).normal(size=(9, 3))
    unit = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum)
    found = unit("awkward", {"x": x}, 9)["y"]
    np.testing.assert_allclose(found, evaluate(kernel, {"x": x})["y"], rtol=1e-13, atol=1e-14)


def test_sine_and_cosine_of_one_angle_are_one_call(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        a, b = k.input("x")
        k.output("y", [sin(a) * cos(a), sin(b) * a])

    rendered = render.render_kernel(trace_algorithm(toy("pair", {"x": "nv"}, {"y": "2"}, emit), pendulum, {}))
    text = "\n".join(rendered.functions[0].lines)
    assert text.count("gm::sincos(x[0],") == 1
    assert text.count("gm::sin(x[1])") == 1
    assert "gm::cos(" not in text


def test_a_kernel_of_constants_has_nothing_to_run(pendulum: Model, cxx: CxxCompiler, tmp_path: Path) -> None:
    algorithm = toy("fixed", {"x": "nv"}, {"y": "3"}, lambda k: k.output("y", [0.0, -1.5, 1e-300]))
    unit = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum)
    np.testing.assert_array_equal(unit("fixed", {}, 5)["y"], [[0.0, -1.5, 1e-300]] * 5)


def test_constants_are_written_exactly(pendulum: Model, cxx: CxxCompiler, tmp_path: Path) -> None:
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789, -(2.0**-1074), 1e22]
    algorithm = toy(
        "exact", {"x": "1"}, {"y": str(len(numbers))}, lambda k: k.output("y", [n * k.input("x")[0] for n in numbers])
    )
    unit = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum)
    np.testing.assert_array_equal(unit("exact", {"x": np.ones((2, 1))}, 2)["y"], [numbers] * 2)
