"""Where the entries of an output are kept until they are written out as rows.

Derivatives of large robots are mostly zeros, and many of the others are equal by symmetry. Inside a kernel, zeros take
no memory and no work, and entries that always have one value share one place; rows are put together on the way out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from grid_core.kernel.kernel import Action, Argument, Kernel, Store
from grid_core.trace.scalar import Real, Scalar

BLOCK = 8
"""Columns of a block of a row: zeros are written block by block."""

WORTH = 0.75
"""Most of the entries that may be kept apart from their order; to leave out fewer gains less than the look-ups cost."""


@dataclass(frozen=True)
class Layout:
    """The entries of one output that are kept.

    Parameters
    ----------
    argument : Argument
    places : tuple of int
        Per entry its place, -1 for zeros. Empty if all are kept in their order.
    """

    argument: Argument
    places: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.argument.name

    @cached_property
    def zero(self) -> int:
        """The place after all others, which is always zero."""
        return max(self.places, default=-1) + 1

    @property
    def size(self) -> int:
        """Number of places, that of the zero included."""
        return self.zero + 1 if self.places else self.argument.size

    def place(self, index: int) -> int:
        """Return where an entry is kept."""
        return self.places[index] if self.places else index

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Per block of a row the number of its list among :attr:`lists`, -1 for zeros."""
        numbers, live = [], 0
        for block in self._blocks():
            some = any(place >= 0 for place in block)
            numbers.append(live if some else -1)
            live += some
        return tuple(numbers)

    @cached_property
    def lists(self) -> tuple[int, ...]:
        """The places of every block that is not zero, one after another; zeros fill up the last block of a row.

        If all are zero there is one block nevertheless: C++ has no empty arrays.
        """
        blocks = (block for block in self._blocks() if any(place >= 0 for place in block))
        return tuple(self.zero if place < 0 else place for block in blocks for place in block) or (self.zero,) * BLOCK

    def _blocks(self) -> Iterator[tuple[int, ...]]:
        for first in range(0, len(self.places), BLOCK):
            block = self.places[first : first + BLOCK]
            yield block + (-1,) * (BLOCK - len(block))


def layouts(kernel: Kernel) -> dict[str, Layout]:
    """Return the layout of every output of a kernel, by name."""
    return {output.name: _layout(output, kernel) for output in kernel.outputs}


def whole_rows(kernel: Kernel) -> dict[str, Layout]:
    """Return the layouts of functions that write whole rows."""
    return {output.name: Layout(output) for output in kernel.outputs}


def _layout(output: Argument, kernel: Kernel) -> Layout:
    values = _values(kernel, output.name)
    known = {value: place for place, value in enumerate(dict.fromkeys(values.values()))}
    if len(known) + 1 > WORTH * output.size:
        return Layout(output)
    return Layout(output, tuple(known[values[i]] if i in values else -1 for i in range(output.size)))


def _values(kernel: Kernel, name: str) -> dict[int, Hashable]:
    """Return something per entry of an output that is equal for entries with one value in every sample.

    Entries that several actions write, or add to, are equal to themselves alone. They come in the order of writing, so
    that what a row of a loop writes has places side by side.
    """
    found: dict[int, Hashable] = {}
    for number, action in enumerate(kernel.actions):
        for index, value in _writes(number, action, name):
            found[index] = value if found.get(index, value) == value else ("entry", index)
    return found


def _writes(number: int, action: Action, name: str) -> Iterator[tuple[int, Hashable]]:
    """Yield the entries of an output that an action writes, each with a key of its value."""
    if isinstance(action, Store):
        if action.target == name:
            yield action.index, ("value", _key(action.value))
        return
    own = [store for store in action.stores if store.target == name]
    for row, reached in enumerate(zip(*map(action.reached, own))):
        for store, index in zip(own, reached):
            yield index, ("entry", index) if store.accumulate else ("row", number, row, _key(store.value))


def _key(value: Real) -> Hashable:
    return ("node", value.id) if isinstance(value, Scalar) else ("constant", value)


def zero_runs(kernel: Kernel, name: str) -> list[tuple[int, int]]:
    """Return the stretches ``(first, end)`` of an output that nothing sets."""
    output = next(o for o in kernel.outputs if o.name == name)
    edges = [-1, *sorted(kernel.written(name)), output.size]
    return [(a + 1, b) for a, b in pairwise(edges) if b > a + 1]
