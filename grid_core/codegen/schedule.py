"""Orders a kernel's work into straight-line functions of bounded size.

Compilers take time more than proportional to the length of a function and run out of registers in long ones; a kernel
of tens of thousands of operations is therefore cut into pieces that hand values on through workspace slots.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grid_core.codegen.layout import Layout
from grid_core.codegen.order import by_demand
from grid_core.codegen.pieces import Form, Piece, Step, cost_of, read_by
from grid_core.codegen.slots import assign_slots
from grid_core.kernel.kernel import Action, Kernel, Loop, Store
from grid_core.trace.scalar import COMPARISONS, Scalar

FUNCTION_BUDGET = 2500
"""Operations of one emitted function: beyond about 3000, compile time and spilling grow quickly."""

STATEMENT_BUDGET = 3000
"""Statements of one emitted function, stores included: compile time grows quickly with those, too."""

INLINE_BUDGET = 10
"""Operations of one emitted expression; keeps lines readable."""

NEAR = 200
"""Statements between a node and its only reader up to which it is written there. Over longer ways one value waits in
its place, instead of all that it is made of."""


@dataclass
class Schedule:
    """What a template needs to render a kernel."""

    kernel: Kernel
    kept: Mapping[str, Layout]
    """Where the entries of outputs are kept, by output."""
    constants: list[Store]
    """Outputs whose value is known at generation time; those that nothing sets are zero."""
    steps: Sequence[Step]
    inlined: frozenset[int]
    """Nodes that are written inside the expression of their only user."""
    arrays: dict[str, int]
    """First slot of each workspace array."""
    slots: int
    """Workspace scalars per sample."""
    messages: int = 0
    """Slots of a block, beside these, for what the workers of a step tell each other."""

    @property
    def pieces(self) -> list[Piece]:
        return [piece for step in self.steps for piece in step.pieces]


def schedule(
    kernel: Kernel,
    kept: Mapping[str, Layout],
    budget: int = FUNCTION_BUDGET,
    order: Callable[[list[Scalar | Action]], list[Scalar | Action]] = by_demand,
) -> Schedule:
    """Cut a kernel, whose outputs are ``kept`` so, into pieces of at most about ``budget`` operations.

    See :mod:`~grid_core.codegen.order` for orders. Kernels with arrays keep their own.
    """
    events, constants = events_of(kernel, kept)
    events = order(events) if not kernel.arrays else events
    inlined = inlined_nodes(events, {}) - read_late(events)
    pieces = cut(named_events(events, inlined), inlined, budget)
    return finish(kernel, kept, constants, [Step(Form.ALONE, pieces)], inlined)


def named_events(events: list[Scalar | Action], inlined: frozenset[int]) -> list[Scalar | Action]:
    """Return the events that get a statement of their own."""
    return [event for event in events if not (isinstance(event, Scalar) and event.id in inlined)]


def finish(
    kernel: Kernel,
    kept: Mapping[str, Layout],
    constants: list[Store],
    steps: Sequence[Step],
    inlined: frozenset[int],
    messages: int = 0,
) -> Schedule:
    """Give workspace to arrays, and to the values that steps and pieces hand on."""
    arrays, first = {}, 0
    for array in kernel.arrays:
        arrays[array.name] = first
        first += array.size
    slots = assign_slots(steps, inlined, first)
    return Schedule(kernel, kept, constants, steps, inlined, arrays, slots, messages)


def events_of(kernel: Kernel, kept: Mapping[str, Layout]) -> tuple[list[Scalar | Action], list[Store]]:
    """Return nodes and actions in running order, outputs as early as possible, and the constant outputs."""
    constants: list[Store] = []
    outputs = {output.name for output in kernel.outputs}
    growing = {name: _added_to(kernel, name) for name in outputs}
    keyed: list[tuple[tuple[int, int], Scalar | Action]] = []
    for event in _once_a_place(kernel.events(), kept):
        if isinstance(event, Scalar):
            if event.op != "input":
                keyed.append(((event.id, 1), event))
        elif isinstance(event, Store) and event.target in outputs:
            if event.index in growing[event.target]:
                keyed.append(((event.order, 0), event))
            elif not isinstance(event.value, Scalar):
                constants.append(event)
            elif event.value.op == "input":
                keyed.append(((event.order, 0), event))
            else:
                keyed.append(((event.value.id, 2), event))
        else:
            keyed.append(((event.order, 0), event))
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])], constants


def _once_a_place(events: Iterable[Scalar | Action], kept: Mapping[str, Layout]) -> Iterator[Scalar | Action]:
    """Yield events without the stores of entries that share a place, and so a value, with one stored before."""
    known: set[tuple[str, int]] = set()
    for event in events:
        if isinstance(event, Store) and event.target in kept:
            place = event.target, kept[event.target].place(event.index)
            if place in known:
                continue
            known.add(place)
        yield event


def _added_to(kernel: Kernel, name: str) -> set[int]:
    """Return the entries of an output that loops add to, which has to begin anew for every sample."""
    loops = [action for action in kernel.actions if isinstance(action, Loop)]
    return {i for loop in loops for s in loop.stores if s.accumulate and s.target == name for i in loop.reached(s)}


def inlined_nodes(events: Iterable[Scalar | Action], home: Mapping[int, Hashable]) -> frozenset[int]:
    """Choose the arithmetic nodes with one user, at the same ``home`` if homes are given, that are written in place."""
    uses: dict[int, int] = {}
    away: set[int] = set()
    for event in events:
        for x in read_by(event):
            if isinstance(x, Scalar):
                shared = isinstance(event, Loop) or (isinstance(event, Scalar) and event.op in COMPARISONS)
                uses[x.id] = uses.get(x.id, 0) + (2 if shared else 1)
                if isinstance(event, Scalar) and home.get(event.id) != home.get(x.id):
                    away.add(x.id)
    size: dict[int, int] = {}
    inlined = set()
    for event in events:
        if isinstance(event, Scalar):
            size[event.id] = 1 + sum(size[a.id] for a in event.args if isinstance(a, Scalar) and a.id in inlined)
            alone = uses.get(event.id) == 1 and event.id not in away and size[event.id] <= INLINE_BUDGET
            alone = alone and event.op not in ("sin", "cos", "slot")
            if alone or event.op in COMPARISONS:  # a mask has no workspace form
                inlined.add(event.id)
    return frozenset(inlined)


def read_late(events: Iterable[Scalar | Action]) -> frozenset[int]:
    """Return the nodes, masks excepted, that have a reader which is not near."""
    made: dict[int, int] = {}
    late: set[int] = set()
    for position, event in enumerate(events):
        late |= {x.id for x in read_by(event) if isinstance(x, Scalar) and position - made.get(x.id, position) > NEAR}
        if isinstance(event, Scalar) and event.op not in COMPARISONS:
            made[event.id] = position
    return frozenset(late)


def cut(events: Iterable[Scalar | Action], inlined: frozenset[int], budget: int = FUNCTION_BUDGET) -> list[Piece]:
    """Return pieces of at most about ``budget`` operations, to be run one after the other."""
    pieces = [Piece()]
    for event in events:
        cost = cost_of(event, inlined)
        last = pieces[-1]
        if (last.operations + cost > budget and last.operations > 0) or len(last.events) >= STATEMENT_BUDGET:
            pieces.append(Piece(stage=len(pieces)))
        pieces[-1].events.append(event)
        pieces[-1].operations += cost
    return pieces
