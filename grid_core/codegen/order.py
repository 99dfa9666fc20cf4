"""The order in which a kernel's straight-line work runs.

In the order of creation an algorithm goes through all bodies for one quantity, then for the next. Neighbouring
operations are independent of each other, which keeps a processor busy, but in a large robot thousands of values wait
for their reader. In the order of demand, one output after the other with what it still lacks, few values wait, but each
operation needs the one just before it. Groups of outputs combine the advantages of both. Where most outputs need most
of what there is, such as columns of a derivative, groups only keep what others share waiting.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.codegen.pieces import read_by
from grid_core.kernel.kernel import Action, Store
from grid_core.trace.scalar import Real, Scalar

GROUP = 4000
"""Operations of a group: as many as the inverse dynamics of a humanoid, which smaller groups slow down by 15 %."""


def by_demand(events: Sequence[Scalar | Action], size: int = GROUP) -> list[Scalar | Action]:
    """Return events in groups: what the next outputs demand, ``size`` operations or more, in the order of creation.

    The only actions are stores of outputs: loops and the arrays that they work on have an order of their own.
    """
    group = demanded = 0
    nodes: dict[int, int] = {}
    stores: dict[int, int] = {}
    for position, event in enumerate(events):
        if isinstance(event, Store):
            missing = _missing(event.value, nodes)
            nodes.update(dict.fromkeys(missing, group))
            stores[position] = group
            demanded += len(missing)
            if demanded >= size:
                group, demanded = group + 1, 0

    def group_of(position: int) -> int:
        event = events[position]
        return nodes[event.id] if isinstance(event, Scalar) else stores[position]

    return [events[position] for position in sorted(range(len(events)), key=group_of)]


def for_registers(events: Sequence[Scalar | Action], room: int, size: int) -> list[Scalar | Action]:
    """Return events in groups of ``size``, or as they are if ``room`` registers then hold more of what waits."""
    return min((by_demand(events, size), list(events)), key=lambda order: _crowd(order, room))


def _crowd(events: Sequence[Scalar | Action], room: int) -> int:
    """Return how many values beyond ``room`` wait for their last reader, summed over all events."""
    last = {x.id: n for n, event in enumerate(events) for x in read_by(event) if isinstance(x, Scalar)}
    ending = [0] * len(events)
    crowd = waiting = 0
    for position, event in enumerate(events):
        if isinstance(event, Scalar) and event.id in last:
            waiting += 1
            ending[last[event.id]] += 1
        crowd += max(0, waiting - room)
        waiting -= ending[position]
    return crowd


def _missing(value: Real, known: dict[int, int]) -> list[int]:
    """Return the numbers of the nodes that a value depends on and that are not known yet."""
    missing: dict[int, None] = {}
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Scalar) and node.id not in known and node.id not in missing:
            missing[node.id] = None
            waiting.extend(node.args)
    return list(missing)
