"""The order of work: what is needed is there, few values wait, small kernels stay as the algorithm made them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grid_core.codegen.layout import layouts
from grid_core.codegen.order import by_demand, for_registers
from grid_core.codegen.schedule import read_by, schedule
from grid_core.kernel import trace_algorithm
from grid_core.kernel.kernel import Kernel, Store
from grid_core.model import load_model
from grid_core.plugins.manager import load_catalogue
from grid_core.trace import Scalar

ROBOTS = Path(__file__).parents[3] / "examples" / "robots"


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """A floating quadruped's gradient, large enough for several groups."""
    algorithms = load_catalogue().algorithms
    model = load_model(ROBOTS / "quadruped12.urdf", floating_base=True)
    return trace_algorithm(algorithms["inverse_dynamics_gradient"], model, algorithms)


def events_of(kernel: Kernel) -> list[Scalar | Store]:
    """Return nodes and stores, each store behind its value."""
    stores = [a for a in kernel.actions if isinstance(a, Store) and isinstance(a.value, Scalar)]
    keyed = [((n.id, 0), n) for n in kernel.nodes()] + [((s.value.id, 1), s) for s in stores]
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])]


@pytest.mark.parametrize("size", [1, 300, 4000])
def test_every_event_runs_once_after_what_it_reads(kernel: Kernel, size: int) -> None:
    events = events_of(kernel)
    ordered = by_demand(events, size)
    assert sorted(map(id, ordered)) == sorted(map(id, events))
    known: set[int] = set()
    for event in ordered:
        assert {x.id for x in read_by(event) if isinstance(x, Scalar)} <= known
        if isinstance(event, Scalar):
            known.add(event.id)


def test_one_group_is_the_order_of_creation(kernel: Kernel) -> None:
    events = events_of(kernel)
    assert by_demand(events, len(events)) == events


def test_each_group_makes_what_its_outputs_need(kernel: Kernel) -> None:
    """In groups of one output, everything between two stores is for the second one."""
    pending: set[int] = set()
    for event in by_demand(events_of(kernel), 1):
        if isinstance(event, Scalar):
            pending.add(event.id)
        else:
            assert isinstance(event, Store)
            waiting = [event.value]
            while waiting:
                node = waiting.pop()
                if isinstance(node, Scalar) and node.id in pending:
                    pending.discard(node.id)
                    waiting.extend(node.args)
            assert not pending


def test_fewer_values_wait(kernel: Kernel) -> None:
    grouped = schedule(kernel, layouts(kernel), 500).slots
    assert grouped < 0.7 * schedule(kernel, layouts(kernel), 500, list).slots


@pytest.mark.parametrize(("name", "grouped"), [("coriolis_matrix", True), ("forward_dynamics_gradient", False)])
def test_registers_hold_what_waits(name: str, grouped: bool) -> None:
    """Groups suit the first one; in the second one all outputs need nearly everything."""
    algorithms = load_catalogue().algorithms
    events = events_of(trace_algorithm(algorithms[name], load_model(ROBOTS / "arm7.urdf"), algorithms))
    assert by_demand(events, 500) != events
    assert for_registers(events, 127, 500) == (by_demand(events, 500) if grouped else events)
    assert for_registers(events, len(events), 500) == by_demand(events, 500), "registers hold all of it anyhow"
