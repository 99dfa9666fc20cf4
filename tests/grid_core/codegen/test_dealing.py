"""Loops dealt to the warps of a pooled kernel: in whichever order rows run, the same numbers come out."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from grid_core.codegen.dealing import in_levels, is_dealt, side_by_side
from grid_core.codegen.exchange import Program
from grid_core.codegen.layout import layouts
from grid_core.codegen.pieces import Form, Piece, leaves_of
from grid_core.codegen.schedule import Schedule
from grid_core.codegen.stages import schedule_stages
from grid_core.kernel import KernelBuilder, trace_algorithm
from grid_core.kernel.interpret import evaluate
from grid_core.kernel.kernel import Action, Kernel, Loop
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.manager import load_catalogue
from grid_core.trace import Scalar
from tests.grid_core.units import toy
from tests.oracle.evaluation import quiet_model
from tests.oracle.trees import chain, describe

WARPS = 16
LOOPED = ("idsva_so", "fdsva_so", "forward_dynamics_parameter_gradient", "integrator_gradient_rk4")


@pytest.fixture(scope="module", params=LOOPED)
def looped(request: pytest.FixtureRequest) -> Kernel:
    algorithms = load_catalogue().algorithms
    model = quiet_model(describe(chain(*["revolute", "prismatic", "revolute"] * 6), 31))
    kernel = trace_algorithm(algorithms[request.param], model, algorithms, absent=frozenset({"f_ext"}))
    assert any(isinstance(action, Loop) for action in kernel.actions)
    return kernel


@pytest.fixture(scope="module")
def plan(looped: Kernel) -> Schedule:
    return schedule_stages(looped, layouts(looped), WARPS)


def test_rows_run_in_any_order(looped: Kernel, plan: Schedule) -> None:
    assert any(step.form is Form.ROWS for step in plan.steps)
    rng = np.random.default_rng(3)
    inputs = {a.name: rng.uniform(-1, 1, (2, a.size)) for a in looped.inputs}
    expected, found = evaluate(looped, inputs), evaluate(shuffled(looped, plan), inputs)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


def shuffled(kernel: Kernel, plan: Schedule) -> Kernel:
    """The kernel with the rows of every piece in another order, and the loops that run side by side too."""
    random = Random(4)
    actions: list[Action] = [action for action in kernel.actions if not isinstance(action, Loop)]
    for form, piece in [(step.form, piece) for step in plan.steps for piece in step.pieces]:
        loops = [event for event in piece.events if isinstance(event, Loop)]
        last = max((loop.order for loop in loops), default=0)
        if form is Form.ROWS:
            random.shuffle(loops)
            loops = [replace(l, table=tuple(random.sample(l.table, len(l.table))), order=last) for l in loops]
        actions += loops
    return replace(kernel, actions=tuple(actions))


def test_values_are_handed_on(plan: Schedule) -> None:
    """A slot holds what a piece loads from it, whichever of the workers of a step comes first."""
    held: dict[int, int] = {}
    for step in plan.steps:
        saved: dict[int, int] = {}
        for piece in step.pieces:
            before = held if step.form is Form.DEALT else held | saved
            check_loads(piece, plan, before)
            assert not saved.keys() & piece.saves.values()
            saved |= {slot: node for node, slot in piece.saves.items()}
            if step.form is not Form.DEALT:
                held |= saved
                saved = {}
        if step.form is Form.DEALT:
            read = {slot for piece in step.pieces for slot in piece.loads.values()}
            assert not read & saved.keys(), "a slot is written while somebody may still read it"
        held |= saved
    assert all(0 <= slot < plan.slots for slot in held)


def check_loads(piece: Piece, plan: Schedule, held: dict[int, int]) -> None:
    made = {event.id for event in piece.events if isinstance(event, Scalar)}
    told = piece.incoming.keys() if isinstance(piece, Program) else set()
    for _, event in piece.staged():
        for x in leaves_of(event, plan.inlined):
            if x.id not in made and x.id not in told:
                assert held[piece.loads[x.id]] == x.id


def traced(algorithm: Algorithm, model: Model) -> list[Loop]:
    return [action for action in trace_algorithm(algorithm, model, {}).actions if isinstance(action, Loop)]


def carrying(chains: int, length: int) -> Algorithm:
    """Chains in which each link adds to what the one before it has."""

    def emit(k: KernelBuilder) -> None:
        w = k.array("w", [*k.input("x")[:1] * chains, *[None] * (chains * length)])
        first = [n * chains for n in range(length)]
        table = [(a + n, a + n + chains) for a in first for n in range(chains)]
        k.loop(table, lambda row: row.store(w, 1, 2.0 * row.load(w, 0)))
        k.output("y", w.values()[-2:])

    return toy("carrying", {"x": "nv"}, {"y": "nv"}, emit)


def test_rows_that_wait_for_each_other_run_in_levels(pendulum: Model) -> None:
    (loop,) = traced(carrying(16, 3), pendulum)
    levels = in_levels(loop)
    assert [len(level.table) for level in levels] == [16, 16, 16]
    assert all(map(is_dealt, levels))
    assert len(list(side_by_side(levels))) == 3


def test_a_chain_stays_with_one_worker(pendulum: Model) -> None:
    (loop,) = traced(carrying(1, 20), pendulum)
    assert in_levels(loop) == [loop]
    assert not is_dealt(loop)


def test_rows_that_add_to_one_slot_stay_in_their_order(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", [0.0, 0.0])
        k.loop([(0,)] * 3, lambda row: row.accumulate(w, 0, 1.0))
        k.output("y", w.values())

    (loop,) = traced(toy("adding", {"x": "nv"}, {"y": "nv"}, emit), pendulum)
    assert in_levels(loop) == [loop]


@pytest.mark.parametrize(("shared", "pieces"), [(True, 2), (False, 1)])
def test_a_barrier_is_between_loops_that_need_it(pendulum: Model, shared: bool, pieces: int) -> None:
    def emit(k: KernelBuilder) -> None:
        x, a, b = k.array("x", k.input("x")), k.array("a", [None] * 2), k.array("b", [0.0] * 2)
        k.loop([(0,)], lambda row: row.store(a, 0, row.load(x, 0)))
        k.loop([(0,)], lambda row: row.store(b, 0, row.load(a if shared else x, 0)))
        k.output("y", b.values())

    loops = traced(toy("two", {"x": "nv"}, {"y": "nv"}, emit), pendulum)
    assert len(list(side_by_side(loops))) == pieces
