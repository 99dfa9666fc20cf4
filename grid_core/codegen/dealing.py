"""Deals the rows of loops to the workers of a kernel.

Tables are constant, so what each row reads and writes is known beforehand. The rows of a loop run in any order if none
touches what another one writes, and several loops like that run without a barrier in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grid_core.codegen.pieces import Piece, cost_of
from grid_core.kernel.kernel import Action, Loop
from grid_core.trace.scalar import Scalar

Slots = NDArray[np.int64]
"""Slots of a workspace array or entries of an output: a line for each row of a loop."""

Entry = tuple[str, int]

FEW = 8
"""Rows that are too few for a barrier."""


@dataclass(frozen=True)
class Touched:
    """What the rows of a loop read and write, by name of the array or output. What they add to, they write."""

    read: Mapping[str, Slots]
    written: Mapping[str, Slots]

    @classmethod
    def by(cls, loop: Loop) -> Touched:
        table = np.array(loop.table, np.int64)
        read: dict[str, list[Slots]] = {}
        written: dict[str, list[Slots]] = {}
        for node in loop.body():
            if node.op == "load":
                array, column, offset = node.data
                read.setdefault(array, []).append(table[:, column] + offset)
        for store in loop.stores:
            written.setdefault(store.target, []).append(table[:, store.column] + store.offset)
        return cls(*({name: np.stack(slots, 1) for name, slots in found.items()} for found in (read, written)))

    @property
    def in_any_order(self) -> bool:
        """Whether no row touches what another one writes."""
        return all(map(self._is_apart, self.written))

    def _is_apart(self, name: str) -> bool:
        written = self.written[name]
        touched = np.concatenate((written, self.read[name]), 1) if name in self.read else written
        row = np.arange(len(written))[:, None]
        writer = np.full(touched.max() + 1, -1)
        writer[written] = row
        found = writer[touched]
        return bool(((found == row) | (found == -1)).all())


def in_levels(loop: Loop) -> list[Loop]:
    """Return loops whose rows run in any order, one after the other; the loop itself if that takes too many.

    A row goes to the first loop behind those of the rows that it waits for.
    """
    touched = Touched.by(loop)
    if touched.in_any_order:
        return [loop]
    written, read = dict[Entry, int](), dict[Entry, int]()
    levels: list[list[tuple[int, ...]]] = []
    for number, row in enumerate(loop.table):
        reads = [(name, slot) for name, slots in touched.read.items() for slot in slots[number].tolist()]
        writes = [(name, slot) for name, slots in touched.written.items() for slot in slots[number].tolist()]
        level = 1 + max(
            max((written.get(entry, -1) for entry in (*reads, *writes)), default=-1),
            max((read.get(entry, -1) for entry in writes), default=-1),
        )
        read |= {entry: max(level, read.get(entry, -1)) for entry in reads}
        written |= dict.fromkeys(writes, level)
        levels += [[]] if level == len(levels) else []
        levels[level].append(row)
    if len(levels) * FEW > len(loop.table):
        return [loop]
    return [replace(loop, table=tuple(rows)) for rows in levels]


def is_dealt(event: Scalar | Action) -> bool:
    """Return whether an event is a loop whose rows run in any order."""
    return isinstance(event, Loop) and Touched.by(event).in_any_order


def side_by_side(loops: Iterable[Loop]) -> Iterator[Piece]:
    """Yield pieces that all workers run, as few as may be: no loop of a piece touches what another one writes."""
    piece = Piece()
    read, written = set[Entry](), set[Entry]()
    for loop in loops:
        touched = Touched.by(loop)
        reads, writes = set(_entries(touched.read)), set(_entries(touched.written))
        if not (writes.isdisjoint(written) and writes.isdisjoint(read) and reads.isdisjoint(written)):
            yield piece
            piece = Piece()
            read, written = set(), set()
        read |= reads
        written |= writes
        piece.events.append(loop)
        piece.operations += cost_of(loop, frozenset())
    yield piece


def _entries(slots: Mapping[str, Slots]) -> Iterator[Entry]:
    return ((name, slot) for name, several in slots.items() for slot in np.unique(several).tolist())
