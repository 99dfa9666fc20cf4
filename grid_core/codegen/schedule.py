"""Orders a kernel's work into straight-line functions of bounded size.

Compilers take time more than proportional to the length of a function and run out of registers in long ones; a kernel
of tens of thousands of operations is therefore cut into pieces that hand values on through workspace slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from grid_core.kernel.kernel import LEAVES, Action, Kernel, Loop, Place, Store
from grid_core.trace.scalar import Real, Scalar

FUNCTION_BUDGET = 2500
"""Operations of one emitted function: beyond about 3000, compile time and spilling grow quickly."""

COMPARISONS = frozenset({"lt", "le", "eq"})
"""Always written in place: their result is a mask, which has no workspace form."""

INLINE_BUDGET = 10
"""Operations of one emitted expression; keeps lines readable."""


@dataclass
class Piece:
    """One emitted function."""

    events: list[Scalar | Action] = field(default_factory=list)
    loads: dict[int, int] = field(default_factory=dict)
    """Node id -> slot, values made by earlier pieces."""
    saves: dict[int, int] = field(default_factory=dict)
    """Node id -> slot, values that later pieces read."""
    operations: int = 0


@dataclass
class Schedule:
    """What a template needs to render a kernel."""

    kernel: Kernel
    constants: list[Store]
    """Outputs whose value is known at generation time, structural zeros above all."""
    pieces: list[Piece]
    inlined: frozenset[int]
    """Nodes that are written inside the expression of their only user."""
    arrays: dict[str, int]
    """First slot of each workspace array."""
    slots: int
    """Workspace scalars per sample."""


def schedule(kernel: Kernel, budget: int = FUNCTION_BUDGET) -> Schedule:
    """Cut a kernel into pieces of at most about ``budget`` operations."""
    events, constants = _events(kernel)
    inlined = _inlined(events)
    pieces = _cut([e for e in events if not (isinstance(e, Scalar) and e.id in inlined)], inlined, budget)
    arrays, first = {}, 0
    for array in kernel.arrays:
        arrays[array.name] = first
        first += array.size
    slots = _assign_slots(pieces, inlined, first)
    return Schedule(kernel, constants, pieces, inlined, arrays, slots)


def _events(kernel: Kernel) -> tuple[list[Scalar | Action], list[Store]]:
    """Return nodes and actions in running order, outputs as early as possible, and the constant outputs."""
    constants: list[Store] = []
    outputs = {output.name for output in kernel.outputs}
    keyed: list[tuple[tuple[int, int], Scalar | Action]] = []
    for event in kernel.events():
        if isinstance(event, Scalar):
            if event.op != "input":
                keyed.append(((event.id, 1), event))
        elif isinstance(event, Store) and event.target in outputs:
            if not isinstance(event.value, Scalar):
                constants.append(event)
            elif event.value.op == "input":
                keyed.append(((event.order, 0), event))
            else:
                keyed.append(((event.value.id, 2), event))
        else:
            keyed.append(((event.order, 0), event))
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])], constants


def read_by(event: Scalar | Action) -> list[Real]:
    """Return what an event reads."""
    if isinstance(event, Scalar):
        return list(event.args)
    if isinstance(event, Store):
        return [event.value]
    return list(event.captured())


def _inlined(events: Iterable[Scalar | Action]) -> frozenset[int]:
    """Choose the arithmetic nodes with one user that are written in place."""
    uses: dict[int, int] = {}
    for event in events:
        for x in read_by(event):
            if isinstance(x, Scalar):
                shared = isinstance(event, Loop) or (isinstance(event, Scalar) and event.op in COMPARISONS)
                uses[x.id] = uses.get(x.id, 0) + (2 if shared else 1)
    size: dict[int, int] = {}
    inlined = set()
    for event in events:
        if isinstance(event, Scalar):
            size[event.id] = 1 + sum(size[a.id] for a in event.args if isinstance(a, Scalar) and a.id in inlined)
            alone = (
                uses.get(event.id) == 1 and event.op not in ("sin", "cos", "slot") and size[event.id] <= INLINE_BUDGET
            )
            if alone or event.op in COMPARISONS:
                inlined.add(event.id)
    return frozenset(inlined)


def _cut(events: list[Scalar | Action], inlined: frozenset[int], budget: int) -> list[Piece]:
    pieces = [Piece()]
    for event in events:
        cost = _cost(event, inlined)
        if pieces[-1].operations + cost > budget and pieces[-1].operations > 0:
            pieces.append(Piece())
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
    """Give a slot to every value that leaves its piece; slots are reused once the last reader has run."""
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        for event in piece.events:
            if isinstance(event, Scalar):
                made[event.id] = number
            for x in leaves_of(event, inlined):
                if made[x.id] != number:
                    last[x.id] = number
                    piece.loads[x.id] = -1
    slots: dict[int, int] = {}
    free: list[int] = []
    used = first
    for number, piece in enumerate(pieces):
        for event in piece.events:
            if isinstance(event, Scalar) and event.id in last:
                if free:
                    slots[event.id] = free.pop()
                else:
                    slots[event.id], used = used, used + 1
                piece.saves[event.id] = slots[event.id]
        piece.loads = {number_: slots[number_] for number_ in piece.loads}
        free.extend(slots[n] for n in piece.loads if last[n] == number)
    return used


def label_of(kernel: Kernel, place: Place) -> str:
    """Return the comment for a place: its stage and part as the algorithm named them."""
    stage, part = kernel.labels.get((place[0], 0), ""), kernel.labels.get(place, "")
    return stage if place[1] == 0 or stage == part else f"{stage}: {part}"
