"""What the workers of a kernel tell each other between stages, and where it is in the workspace of each block.

Within one block, a slot is free again in the stage after its last load: all warps have met in between. Blocks of a
cluster run ahead of each other: a block that begins a stage has what it needs from the others, and knows that they have
finished the stage before the last one. Their slots are free again one stage later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grid_core.codegen.pieces import Barrier, Piece, leaves_of
from grid_core.trace.scalar import Scalar


@dataclass(frozen=True)
class Message:
    """Values that one worker makes in one stage and the same others read, moved by one instruction.

    Attributes
    ----------
    nodes : tuple of int
        Node ids: 1, 2 or 4.
    slots : mapping of int to int
        For each block that reads it, the first of as many slots, aligned to their number.
    """

    nodes: tuple[int, ...]
    slots: Mapping[int, int]


@dataclass
class Program(Piece):
    """What one of several workers does: a piece with a barrier between stages.

    Attributes
    ----------
    block : int
        The block that the worker belongs to.
    expected : list of int
        For a worker that counts for its block, the values that come from other blocks in each stage; else empty.
    outgoing, incoming : dict of int to Message
        By the node that completes a message, and by each node that is read.
    """

    block: int = 0
    expected: list[int] = field(default_factory=list)
    outgoing: dict[int, Message] = field(default_factory=dict)
    incoming: dict[int, Message] = field(default_factory=dict)


Readers = dict[int, int]
"""For each worker that reads a value, the stage in which it loads it; it keeps the value in a register from then on."""


def exchange(programs: Sequence[Program], inlined: frozenset[int], blocks: int, width: int) -> int:
    """Give messages of at most ``width`` values to the programs; return the slots that a block needs."""
    readers = _readers(programs, inlined)
    spaces = [_Space() for _ in range(blocks)]
    ends: dict[int, list[Message]] = {}
    lag = 0 if blocks == 1 else 1
    arriving: list[dict[int, int]] = [{} for _ in spaces]
    for stage, number, nodes in sorted(_bundles(programs, readers, width), key=lambda bundle: bundle[0]):
        for message in [m for last in sorted(ends) if last + lag < stage for m in ends.pop(last)]:
            for block, slot in message.slots.items():
                spaces[block].give(slot, len(message.nodes))
        reading = readers[nodes[0]]
        reached = sorted({programs[reader].block for reader in reading})
        message = Message(nodes, {block: spaces[block].take(len(nodes)) for block in reached})
        ends.setdefault(max(reading.values()), []).append(message)
        programs[number].outgoing[nodes[-1]] = message
        for block in reached:
            if block != programs[number].block:
                arriving[block][stage] = arriving[block].get(stage, 0) + len(nodes)
        for reader in reading:
            programs[reader].incoming.update(dict.fromkeys(nodes, message))
    if blocks > 1:
        for block, counts in enumerate(arriving):
            first = programs[block * len(programs) // blocks]
            stages = 1 + sum(isinstance(event, Barrier) for event in first.events)
            first.expected = [counts.get(stage, 0) for stage in range(stages)]
    return max(space.size for space in spaces)


def _bundles(
    programs: Sequence[Program], readers: Mapping[int, Readers], width: int
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield stage, worker and values of every message: made in one stage, read by the same in the same ones."""
    for number, program in enumerate(programs):
        alike: dict[tuple[int, tuple[tuple[int, int], ...]], list[int]] = {}
        for stage, event in program.staged():
            if isinstance(event, Scalar) and event.id in readers:
                alike.setdefault((stage, tuple(sorted(readers[event.id].items()))), []).append(event.id)
        for (stage, _), nodes in alike.items():
            yield from ((stage, number, part) for part in _parts(nodes, width))


def _readers(programs: Sequence[Program], inlined: frozenset[int]) -> dict[int, Readers]:
    """Return who reads each value that leaves its program; what none of them makes is no message."""
    made = {event.id: n for n, program in enumerate(programs) for event in program.events if isinstance(event, Scalar)}
    readers: dict[int, Readers] = {}
    for number, program in enumerate(programs):
        for stage, event in program.staged():
            for x in leaves_of(event, inlined):
                if made.get(x.id, number) != number:
                    readers.setdefault(x.id, {}).setdefault(number, stage)
    return readers


def _parts(nodes: Sequence[int], width: int) -> Iterator[tuple[int, ...]]:
    """Cut a list into runs of ``width``, half of that, and so on."""
    start = 0
    while start < len(nodes):
        if width <= len(nodes) - start:
            yield tuple(nodes[start : start + width])
            start += width
        else:
            width //= 2


class _Space:
    """The slots of one block, handed out in aligned runs of 1, 2 or 4."""

    def __init__(self) -> None:
        self.size = 0
        self._free: dict[int, list[int]] = {1: [], 2: [], 4: []}

    def take(self, count: int) -> int:
        if self._free[count]:
            return self._free[count].pop()
        if count == 4:
            self.size += 4
            return self.size - 4
        slot = self.take(2 * count)
        self._free[count].append(slot + count)
        return slot

    def give(self, slot: int, count: int) -> None:
        self._free[count].append(slot)
