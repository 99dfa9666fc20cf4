"""Divides a kernel into what follows from held inputs alone and the rest, for which the results are one more input.

Where a call has one value of every held input for all samples, the first part runs once, on scalars.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from grid_core.codegen.pieces import read_by
from grid_core.kernel.kernel import Argument, Kernel, Store
from grid_core.trace.scalar import COMPARISONS, Graph, Real, Scalar

HELD = "held"
"""The output of the one, and the input of the other."""

NO_NODE = -1


@dataclass(frozen=True)
class Divided:
    """A kernel in two.

    Attributes
    ----------
    first : Kernel
        What follows from held inputs alone: the values that the rest reads, and outputs that depend on nothing else.
    rest : Kernel
        The other outputs.
    """

    first: Kernel
    rest: Kernel


def divide(kernel: Kernel) -> Divided | None:
    """Return both parts of a kernel that has held inputs and no loops."""
    inputs = tuple(replace(argument, held=False) for argument in kernel.inputs if argument.held)
    actions = [action for action in kernel.actions if isinstance(action, Store)]
    if not inputs or kernel.arrays or len(actions) < len(kernel.actions):
        return None
    still = _still(kernel)
    moving = {action.target for action in actions if _id(action.value) not in still}
    outputs = tuple(output for output in kernel.outputs if output.name not in moving)
    own = tuple(action for action in actions if action.target not in moving)
    rest = replace(
        kernel,
        outputs=tuple(output for output in kernel.outputs if output.name in moving),
        actions=tuple(action for action in actions if action.target in moving),
    )
    kept = _passed_on(rest, still)
    held = Argument(HELD, len(kept), (len(kept),))
    stores = tuple(Store(HELD, place, node, node.section, node.id + 1) for place, node in enumerate(kept))
    first = Kernel(f"{kernel.name}_{HELD}", inputs, (held, *outputs), (), (*stores, *own), kernel.graph)
    return Divided(first, _without(rest, {node.id: place for place, node in enumerate(kept)}, held))


def _still(kernel: Kernel) -> set[int]:
    """Return the nodes that follow from held inputs alone; no node, a constant, is one of them."""
    varying = {argument.name for argument in kernel.inputs if not argument.held}
    still = {NO_NODE}
    for node in kernel.nodes():
        moves = node.data[0] in varying if node.op == "input" else any(_id(x) not in still for x in node.args)
        if not moves:
            still.add(node.id)
    return still


def _id(x: Real) -> int:
    return x.id if isinstance(x, Scalar) else NO_NODE


def _passed_on(kernel: Kernel, still: AbstractSet[int]) -> list[Scalar]:
    """Return the numbers among nodes that are still which something else, or an output, reads."""
    wanted: dict[int, Scalar] = {}
    for event in kernel.events():
        if not (isinstance(event, Scalar) and event.id in still):
            read = [x for x in read_by(event) if isinstance(x, Scalar)]
            wanted |= {x.id: x for x in _numbers(read) if x.id in still and x.op != "input"}
    return list(wanted.values())


def _numbers(read: Sequence[Scalar]) -> Iterator[Scalar]:
    """Yield what is read, and for a mask, which has no form in memory, what it compares."""
    for x in read:
        if x.op in COMPARISONS:
            yield from (a for a in x.args if isinstance(a, Scalar))
        else:
            yield x


def _without(kernel: Kernel, places: Mapping[int, int], held: Argument) -> Kernel:
    """Return a kernel that reads what is held instead of computing it."""
    graph = Graph()
    made: dict[int, Scalar] = {}
    actions = []

    def again(x: Real) -> Real:
        return made[x.id] if isinstance(x, Scalar) else x

    for event in kernel.events():
        if isinstance(event, Store):
            actions.append(replace(event, value=again(event.value), order=len(graph.nodes)))
        elif isinstance(event, Scalar):
            graph.section = event.section
            if event.id in places:
                made[event.id] = graph.node("input", (), (HELD, places[event.id]))
            else:
                made[event.id] = graph.node(event.op, tuple(map(again, event.args)), event.data)
    return replace(kernel, inputs=(*kernel.inputs, held), actions=tuple(actions), graph=graph)
