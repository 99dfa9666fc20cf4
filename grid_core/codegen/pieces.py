"""Pieces of a kernel, and what the events in them read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from grid_core.kernel.kernel import LEAVES, Action, Loop, Store
from grid_core.trace.scalar import Real, Scalar


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


class Form(Enum):
    """Who runs the pieces of a step."""

    ALONE = "alone"
    """The first worker, one after the other."""
    DEALT = "dealt"
    """One worker each."""
    ROWS = "rows"
    """All workers the only piece, each some rows of its loops."""


@dataclass(frozen=True)
class Step:
    """What the workers of a kernel do until all of them meet."""

    form: Form
    pieces: Sequence[Piece]


def read_by(event: Scalar | Action) -> list[Real]:
    """Return what an event reads."""
    if isinstance(event, Scalar):
        return list(event.args)
    if isinstance(event, Store):
        return [event.value]
    return list(event.captured())


def cost_of(event: Scalar | Action, inlined: frozenset[int]) -> int:
    """Return the operations of an event, those of inlined nodes included."""
    if isinstance(event, Loop):
        return len(event.body())
    own = 1 if isinstance(event, Scalar) and event.op not in LEAVES else 0
    return own + sum(cost_of(x, inlined) for x in read_by(event) if isinstance(x, Scalar) and x.id in inlined)


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
