"""Which entries of the tensors can be other than zero, and tensors that keep those alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grid_core.kernel.builder import KernelBuilder, Row
from grid_core.trace.scalar import Real
from grid_plugins.second_order.branches import Branches
from grid_plugins.second_order.looped import Looped, shares_slots
from grid_plugins.second_order.terms import Member, Moved, Pair, Tensor, fill
from grid_plugins.second_order.unrolled import Cube
from grid_plugins.second_order.written_out import Loops

Columns = dict[tuple[int, int], tuple[int, ...]]
"""For the slots ``j`` and ``k`` of a column ``[:, j, k]``, ordered by ``k``, the rows with an entry."""


def columns_of(branches: Branches) -> dict[Tensor, Columns]:
    """Return the columns of each tensor that have entries."""
    found: dict[Tensor, dict[tuple[int, int], set[int]]] = {tensor: {} for tensor in Tensor}
    moved, pair = Moved.read(lambda _: 1.0, single=False), Pair.read(lambda _: 1.0)

    def note(tensor: Tensor, _: Real, *places: Sequence[Member]) -> None:
        for i, j, k in places:
            found[tensor].setdefault((j.slot, k.slot), set()).add(i.slot)

    for a, b, c in branches.triples():
        fill(note, pair, (Member(x.slot, moved) for x in (a, b, c)), b.seen_from(a), c.seen_from(b))
    return {tensor: _ordered(columns) for tensor, columns in found.items()}


def _ordered(columns: dict[tuple[int, int], set[int]]) -> Columns:
    return {key: tuple(sorted(columns[key])) for key in sorted(columns, key=lambda key: key[::-1])}


class Packed:
    """The tensors of inverse dynamics in workspace, column after column, without the zeros of the tree.

    An entry has the same place in each of them, whether or not it is one that can be other than zero there.
    """

    def __init__(self, branches: Branches) -> None:
        self.columns = columns_of(branches)
        self.of_one_joint = {(a.slot, b.slot) for joint in branches.joints for a in joint for b in joint}
        self.places: dict[tuple[int, int, int], int] = {}
        for (j, n), rows in self.columns[Tensor.POSITIONS].items():
            self.places |= {(i, j, n): len(self.places) + at for at, i in enumerate(rows)}
        self.slots: dict[Tensor, Any] = {}
        self.cleared = False

    def keep(self, loops: Loops, cubes: Mapping[Tensor, Cube]) -> None:
        """Keep what is known of entries already."""
        for tensor, cube in cubes.items():
            self.slots[tensor] = loops.array(tensor.value, [cube[i][j][k] for i, j, k in self.places])

    def fill(self, k: KernelBuilder, branches: Branches, curvature: Sequence[Real]) -> None:
        """Compute entries by loops."""
        self.slots |= {tensor: k.array(tensor.value, [None] * len(self.places)) for tensor in Tensor}
        if shares_slots(k.model):
            self._clear(k)
        Looped(k, branches, self).fill(curvature)

    def place(self, i: int, j: int, k: int) -> int:
        """Return the slot of entry ``[i, j, k]`` among those of a tensor."""
        return self.places[i, j, k]

    def _clear(self, k: KernelBuilder) -> None:
        def body(row: Row) -> None:
            for slots in self.slots.values():
                row.store(slots, 0, 0.0)

        k.loop([(place,) for place in self.places.values()], body)
        self.cleared = True
