"""Orders a kernel's work into straight-line functions of bounded size.

Compilers take time more than proportional to the length of a function and run out of registers in long ones; a kernel
of tens of thousands of operations is therefore cut into pieces that hand values on through workspace slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from grid_core.codegen.layout import Layout
from grid_core.codegen.order import by_demand
from grid_core.kernel.kernel import LEAVES, Action, Kernel, Loop, Store
from grid_core.kernel.partition import partition
from grid_core.trace.scalar import COMPARISONS, Real, Scalar

FUNCTION_BUDGET = 2500
"""Operations of one emitted function: beyond about 3000, compile time and spilling grow quickly."""

STATEMENT_BUDGET = 3000
"""Statements of one emitted function, stores included: compile time grows quickly with those, too."""

INLINE_BUDGET = 10
"""Operations of one emitted expression; keeps lines readable."""


@dataclass(frozen=True)
class Barrier:
    """Where the workers of a kernel wait for each other."""


Event = Scalar | Action | Barrier


@dataclass
class Piece:
    """One emitted function: a stretch of the kernel that runs alone, or what one of several workers does."""

    events: list[Event] = field(default_factory=list)
    loads: dict[int, int] = field(default_factory=dict)
    """Node id -> slot, values that other pieces made."""
    saves: dict[int, int] = field(default_factory=dict)
    """Node id -> slot, values that other pieces read."""
    operations: int = 0
    stage: int = 0
    """Stage of its first event; every barrier starts another one."""

    def staged(self) -> Iterator[tuple[int, Scalar | Action]]:
        """Yield the events with their stages. What one stage saves may be loaded in later ones only."""
        stage = self.stage
        for event in self.events:
            if isinstance(event, Barrier):
                stage += 1
            else:
                yield stage, event


@dataclass
class Schedule:
    """What a template needs to render a kernel."""

    kernel: Kernel
    kept: Mapping[str, Layout]
    """Where the entries of outputs are kept, by output."""
    constants: list[Store]
    """Outputs whose value is known at generation time; those that nothing sets are zero."""
    pieces: list[Piece]
    inlined: frozenset[int]
    """Nodes that are written inside the expression of their only user."""
    arrays: dict[str, int]
    """First slot of each workspace array."""
    slots: int
    """Workspace scalars per sample."""


def schedule(kernel: Kernel, kept: Mapping[str, Layout], budget: int = FUNCTION_BUDGET) -> Schedule:
    """Cut a kernel, whose outputs are ``kept`` so, into pieces of at most about ``budget`` operations."""
    events, constants = _events(kernel, kept)
    events = by_demand(events) if not kernel.arrays else events
    inlined = _inlined(events, {})
    return _finish(kernel, kept, constants, _cut(_named(events, inlined), inlined, budget), inlined)


def schedule_stages(kernel: Kernel, kept: Mapping[str, Layout], workers: int) -> Schedule:
    """Deal a kernel to workers that meet at a barrier after every stage; see :mod:`grid_core.kernel.partition`."""
    events, constants = _events(kernel, kept)
    stages = partition(kernel, workers).stages or (((),) * workers,)  # without operations, inputs may still be stored
    home = {n: (stage, worker) for stage, dealt in enumerate(stages) for worker, ids in enumerate(dealt) for n in ids}
    inlined = _inlined(events, home)
    work: list[list[list[Scalar | Action]]] = [[[] for _ in range(workers)] for _ in stages]
    for event in _named(events, inlined):
        source = event.value if isinstance(event, Store) else event
        stage, worker = home.get(source.id, (0, 0)) if isinstance(source, Scalar) else (0, 0)
        work[stage][worker].append(event)
    pieces = [_program([dealt[worker] for dealt in work], inlined) for worker in range(workers)]
    return _finish(kernel, kept, constants, pieces, inlined)


def _program(stages: list[list[Scalar | Action]], inlined: frozenset[int]) -> Piece:
    """Return what one worker does, with a barrier between stages."""
    piece = Piece()
    for stage, events in enumerate(stages):
        piece.events += [Barrier()] if stage > 0 else []
        piece.events += events
        piece.operations += sum(_cost(event, inlined) for event in events)
    return piece


def _named(events: list[Scalar | Action], inlined: frozenset[int]) -> list[Scalar | Action]:
    """Return the events that get a statement of their own."""
    return [event for event in events if not (isinstance(event, Scalar) and event.id in inlined)]


def _finish(
    kernel: Kernel, kept: Mapping[str, Layout], constants: list[Store], pieces: list[Piece], inlined: frozenset[int]
) -> Schedule:
    arrays, first = {}, 0
    for array in kernel.arrays:
        arrays[array.name] = first
        first += array.size
    slots = _assign_slots(pieces, inlined, first)
    return Schedule(kernel, kept, constants, pieces, inlined, arrays, slots)


def _events(kernel: Kernel, kept: Mapping[str, Layout]) -> tuple[list[Scalar | Action], list[Store]]:
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


def read_by(event: Scalar | Action) -> list[Real]:
    """Return what an event reads."""
    if isinstance(event, Scalar):
        return list(event.args)
    if isinstance(event, Store):
        return [event.value]
    return list(event.captured())


def _inlined(events: Iterable[Scalar | Action], home: Mapping[int, tuple[int, int]]) -> frozenset[int]:
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


def _cut(events: list[Scalar | Action], inlined: frozenset[int], budget: int) -> list[Piece]:
    pieces = [Piece()]
    for event in events:
        cost = _cost(event, inlined)
        last = pieces[-1]
        if (last.operations + cost > budget and last.operations > 0) or len(last.events) >= STATEMENT_BUDGET:
            pieces.append(Piece(stage=len(pieces)))
        pieces[-1].events.append(event)
        pieces[-1].operations += cost
    return pieces


def _cost(event: Scalar | Action, inlined: frozenset[int]) -> int:
    if isinstance(event, Loop):
        return len(event.body())
    own = 1 if isinstance(event, Scalar) and event.op not in LEAVES else 0
    return own + sum(_cost(x, inlined) for x in read_by(event) if isinstance(x, Scalar) and x.id in inlined)


def leaves_of(event: Scalar | Action, inlined: frozenset[int]) -> Iterator[Scalar]:
    """Yield the named values that an event's expression reads, looking through inlined nodes."""
    for x in read_by(event):
        if isinstance(x, Scalar):
            if x.id in inlined:
                yield from leaves_of(x, inlined)
            elif x.op != "input":
                yield x


def inputs_of(event: Scalar | Action, inlined: frozenset[int]) -> Iterator[Scalar]:
    """Yield the kernel inputs that an event's expression or loop body reads, looking through inlined nodes."""
    reads = [*read_by(event), *(a for n in event.body() for a in n.args)] if isinstance(event, Loop) else read_by(event)
    for x in reads:
        if isinstance(x, Scalar):
            if x.op == "input":
                yield x
            elif x.id in inlined:
                yield from inputs_of(x, inlined)


def _assign_slots(pieces: list[Piece], inlined: frozenset[int], first: int) -> int:
    """Give a slot to every value that leaves its piece; a slot is used again in the stage after its last load."""
    made = {
        event.id: number for number, piece in enumerate(pieces) for event in piece.events if isinstance(event, Scalar)
    }
    last = _note_loads(pieces, inlined, made)
    born: dict[int, list[tuple[Piece, int]]] = {}
    for piece in pieces:
        for stage, event in piece.staged():
            if isinstance(event, Scalar) and event.id in last:
                born.setdefault(stage, []).append((piece, event.id))
    slots: dict[int, int] = {}
    free: list[int] = []
    used = first
    for stage in sorted(born):
        free += sorted(slots[node] for node in slots if last.get(node, stage) < stage)
        last = {node: end for node, end in last.items() if end >= stage}
        for piece, node in born[stage]:
            used += not free
            piece.saves[node] = slots[node] = free.pop() if free else used - 1
    for piece in pieces:
        piece.loads = {node: slots[node] for node in piece.loads}
    return used


def _note_loads(pieces: list[Piece], inlined: frozenset[int], made: Mapping[int, int]) -> dict[int, int]:
    """Note what each piece loads; return the stage of the last load of every value that leaves its piece."""
    last: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        for stage, event in piece.staged():
            for x in leaves_of(event, inlined):
                if made[x.id] != number and x.id not in piece.loads:
                    last[x.id] = max(last.get(x.id, 0), stage)
                    piece.loads[x.id] = -1
    return last
