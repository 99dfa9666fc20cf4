"""Kernels dealt to several workers: nothing is lost, nothing is read before the barrier behind it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grid_core.codegen.exchange import Message, Program
from grid_core.codegen.layout import layouts
from grid_core.codegen.pieces import Barrier, leaves_of
from grid_core.codegen.schedule import Schedule
from grid_core.codegen.stages import schedule_stages
from grid_core.kernel import trace_algorithm
from grid_core.kernel.kernel import Action, Argument, Kernel, Store
from grid_core.kernel.partition import partition
from grid_core.model import load_model
from grid_core.plugins.manager import load_catalogue
from grid_core.trace import Scalar
from tests.grid_core.trace.expressions import Step, programs, trace
from tests.grid_core.units import GOLDEN

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


def operations_of(kernel: Kernel) -> list[Scalar]:
    return [node for node in kernel.nodes() if node.op != "input"]


def check_partition(kernel: Kernel, workers: int) -> None:
    operations = operations_of(kernel)
    home = {}
    for stage, dealt in enumerate(partition(operations, workers).stages):
        assert len(dealt) == workers
        for worker, nodes in enumerate(dealt):
            assert list(nodes) == sorted(nodes), "a worker keeps the order of the kernel"
            assert not home.keys() & set(nodes), "an operation is dealt once"
            home.update(dict.fromkeys(nodes, (stage, worker)))
    assert set(home) == {node.id for node in operations}
    for node in operations:
        stage, worker = home[node.id]
        for a in node.args:
            if isinstance(a, Scalar) and a.op != "input":
                assert home[a.id] == (stage, worker) or home[a.id][0] < stage


class Simulation:
    """Workers that run side by side, stage by stage; follows what each slot of each block holds."""

    def __init__(self, plan: Schedule, blocks: int) -> None:
        self.plan = plan
        self.lag = 1 if blocks > 1 else 0
        self.programs = [piece for piece in plan.pieces if isinstance(piece, Program)]
        self.known: list[set[int]] = [set() for _ in self.programs]
        self.held: list[dict[int, int]] = [{} for _ in range(blocks)]
        self.last_read: list[dict[int, int]] = [{} for _ in range(blocks)]

    def run(self, stage: int) -> None:
        sent: list[dict[int, int]] = [{} for _ in self.held]
        foreign = [0] * len(self.held)
        for program, known in zip(self.programs, self.known):
            for event in (e for s, e in program.staged() if s == stage):
                self.read(event, program, known, stage)
                if isinstance(event, Scalar):
                    known.add(event.id)
                    if message := program.outgoing.get(event.id):
                        assert known.issuperset(message.nodes), "a message is sent when it is complete"
                        send(message, sent)
                        for block in message.slots:
                            foreign[block] += len(message.nodes) * (block != program.block)
        for block, arrived in enumerate(sent):
            last = max((self.last_read[block].get(slot, -2) for slot in arrived), default=-2)
            assert last + self.lag < stage, "a slot is written while somebody may still read it"
            self.held[block].update(arrived)
        expected = [program.expected[stage] for program in self.programs if program.expected]
        assert expected == (foreign if len(self.held) > 1 else [])

    def read(self, event: Scalar | Action, program: Program, known: set[int], stage: int) -> None:
        """Load what an event needs."""
        for x in leaves_of(event, self.plan.inlined):
            if x.id not in known:
                message = program.incoming[x.id]
                first = message.slots[program.block]
                slots = range(first, first + len(message.nodes))
                assert [self.held[program.block][slot] for slot in slots] == list(message.nodes)
                self.last_read[program.block].update(dict.fromkeys(slots, stage))
                known.update(message.nodes)
            assert x.id in known


def check_stages(plan: Schedule, workers: int, blocks: int) -> None:
    simulation = Simulation(plan, blocks)
    assert len(simulation.programs) == workers
    barriers = {sum(isinstance(e, Barrier) for e in piece.events) for piece in plan.pieces}
    assert len(barriers) == 1, "every worker meets every barrier"
    for stage in range(barriers.pop() + 1):
        simulation.run(stage)
    assert all(0 <= slot < plan.messages for block in simulation.held for slot in block)
    name = plan.kernel.outputs[0].name
    written = [e.index for piece in plan.pieces for e in piece.events if isinstance(e, Store)]
    written += [store.index for store in plan.constants]
    places = sorted(map(plan.kept[name].place, written))
    assert places == sorted(set(map(plan.kept[name].place, plan.kernel.written(name))))


def send(message: Message, sent: list[dict[int, int]]) -> None:
    for block, first in message.slots.items():
        assert first % len(message.nodes) == 0, "a vector is aligned"
        for offset, node in enumerate(message.nodes):
            assert first + offset not in sent[block], "two messages share a slot"
            sent[block][first + offset] = node


@settings(max_examples=60)
@example([("max", 0, 0, 0.0)], 2)  # a kernel that passes an input on
@given(programs(longest=30), WORKERS)
def test_random_kernels(program: list[Step], workers: int) -> None:
    kernel = kernel_of(program)
    check_partition(kernel, workers)
    check_stages(schedule_stages(kernel, layouts(kernel), workers), workers, 1)
    check_stages(schedule_stages(kernel, layouts(kernel), 2 * workers, 2, width=2), 2 * workers, 2)


@pytest.mark.parametrize(("workers", "blocks", "width"), [(1, 1, 4), (4, 1, 1), (16, 1, 4), (16, 4, 4), (8, 2, 2)])
def test_a_robot(gradient: Kernel, workers: int, blocks: int, width: int) -> None:
    check_partition(gradient, workers)
    check_stages(schedule_stages(gradient, layouts(gradient), workers, blocks, width), workers, blocks)


def test_blocks_share_the_work_evenly(gradient: Kernel) -> None:
    plan = schedule_stages(gradient, layouts(gradient), 16, 4)
    work = [sum(piece.operations for piece in plan.pieces[4 * block : 4 * block + 4]) for block in range(4)]
    assert max(work) < 1.5 * sum(work) / 4


def test_more_workers_are_faster(gradient: Kernel) -> None:
    spans = [partition(operations_of(gradient), workers).span for workers in (1, 4, 16)]
    assert spans[0] > spans[1] > spans[2]
    assert spans[0] > 2.0 * spans[2]
