"""Kernels dealt to several workers: nothing is lost, nothing is read before the barrier behind it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grid_core.codegen.layout import layouts
from grid_core.codegen.schedule import Barrier, Schedule, leaves_of, schedule_stages
from grid_core.errors import TraceError
from grid_core.kernel import KernelBuilder, trace_algorithm
from grid_core.kernel.kernel import Argument, Kernel, Store
from grid_core.kernel.partition import partition
from grid_core.model import Model, load_model
from grid_core.plugins.manager import load_catalogue
from grid_core.trace import Scalar
from tests.grid_core.trace.expressions import Step, programs, trace
from tests.grid_core.units import GOLDEN, toy

WORKERS = st.integers(1, 5)


def kernel_of(program: list[Step]) -> Kernel:
    graph, _, results = trace(program)
    stores = tuple(Store("y", i, v, "", len(graph.nodes)) for i, v in enumerate(results))
    size = len(results)
    return Kernel("k", (Argument("x", 3, (3,)),), (Argument("y", size, (size,)),), (), stores, graph)


@pytest.fixture(scope="module")
def gradient() -> Kernel:
    algorithms = load_catalogue().algorithms
    iiwa = load_model(GOLDEN / "iiwa14.urdf")
    return trace_algorithm(algorithms["inverse_dynamics_gradient"], iiwa, algorithms)


def check_partition(kernel: Kernel, workers: int) -> None:
    stages = partition(kernel, workers).stages
    home = {}
    for stage, dealt in enumerate(stages):
        assert len(dealt) == workers
        for worker, nodes in enumerate(dealt):
            assert list(nodes) == sorted(nodes), "a worker keeps the order of the kernel"
            assert not home.keys() & set(nodes), "an operation is dealt once"
            home.update(dict.fromkeys(nodes, (stage, worker)))
    operations = [node for node in kernel.nodes() if node.op != "input"]
    assert set(home) == {node.id for node in operations}
    for node in operations:
        stage, worker = home[node.id]
        for a in node.args:
            if isinstance(a, Scalar) and a.op != "input":
                assert home[a.id] == (stage, worker) or home[a.id][0] < stage


def check_stages(plan: Schedule, workers: int) -> None:
    """Run the workers side by side, stage by stage, following what each slot holds."""
    assert len(plan.pieces) == workers
    barriers = {sum(isinstance(e, Barrier) for e in piece.events) for piece in plan.pieces}
    assert len(barriers) == 1, "every worker meets every barrier"
    slots: dict[int, int] = {}
    ready: list[set[int]] = [set() for _ in plan.pieces]
    for stage in range(barriers.pop() + 1):
        read: set[int] = set()
        saved: dict[int, int] = {}
        for piece, known in zip(plan.pieces, ready):
            for event in (e for s, e in piece.staged() if s == stage):
                for x in leaves_of(event, plan.inlined):
                    if x.id not in known:
                        assert slots[piece.loads[x.id]] == x.id
                        read.add(piece.loads[x.id])
                        known.add(x.id)
                if isinstance(event, Scalar):
                    known.add(event.id)
                    if event.id in piece.saves:
                        assert piece.saves[event.id] not in saved, "two workers save to one slot"
                        saved[piece.saves[event.id]] = event.id
        assert not read & set(saved), "a slot is read and written between two barriers"
        slots.update(saved)
    assert all(0 <= slot < plan.slots for slot in slots)
    name = plan.kernel.outputs[0].name
    written = [e.index for piece in plan.pieces for e in piece.events if isinstance(e, Store)]
    written += [store.index for store in plan.constants]
    places = sorted(map(plan.kept[name].place, written))
    assert places == sorted(set(map(plan.kept[name].place, plan.kernel.written(name))))


@settings(max_examples=60)
@example([("max", 0, 0, 0.0)], 2)  # a kernel that passes an input on
@given(programs(longest=30), WORKERS)
def test_random_kernels(program: list[Step], workers: int) -> None:
    kernel = kernel_of(program)
    check_partition(kernel, workers)
    check_stages(schedule_stages(kernel, layouts(kernel), workers), workers)


@pytest.mark.parametrize("workers", [1, 4, 16])
def test_a_robot(gradient: Kernel, workers: int) -> None:
    check_partition(gradient, workers)
    check_stages(schedule_stages(gradient, layouts(gradient), workers), workers)


def test_more_workers_are_faster(gradient: Kernel) -> None:
    spans = [partition(gradient, workers).span for workers in (1, 4, 16)]
    assert spans[0] > spans[1] > spans[2]
    assert spans[0] > 2.0 * spans[2]


def test_loops_are_not_dealt(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", k.input("x"))
        k.loop([(0,), (1,)], lambda row: row.accumulate(w, 0, 1.0))
        k.output("y", w.values())

    kernel = trace_algorithm(toy("looped", {"x": "nv"}, {"y": "nv"}, emit), pendulum, {})
    with pytest.raises(TraceError, match="looped has table loops and cannot be dealt to several workers; use one"):
        partition(kernel, 2)
