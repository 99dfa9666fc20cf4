"""Where the entries of an output are kept until they are written out as rows.

Derivatives of large robots are mostly zeros. Blocks of columns in which every entry is zero whatever the inputs take no
memory and no work inside a kernel: they become zeros on the way out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from grid_core.kernel.kernel import Argument, Kernel

BLOCK = 16
"""Columns of a block: the lanes of the widest pack."""

WORTH = 0.25
"""Share of the blocks that has to be zero; leaving out fewer gains less than the look-ups cost."""


@dataclass(frozen=True)
class Layout:
    """The entries of one output that are kept.

    Parameters
    ----------
    argument : Argument
    blocks : tuple of int
        Per block of a row its place among the kept ones, -1 for zeros. Empty if everything is kept. A last block that
        is not full counts as one.
    """

    argument: Argument
    blocks: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.argument.name

    @cached_property
    def size(self) -> int:
        """Entries kept, zeros inside kept blocks included."""
        if not self.blocks:
            return self.argument.size
        kept = sum(place >= 0 for place in self.blocks)
        rest = self.argument.size % BLOCK
        return max(1, BLOCK * kept - (BLOCK - rest if rest and self.blocks[-1] >= 0 else 0))

    def place(self, index: int) -> int:
        """Return where an entry is kept."""
        return BLOCK * self.blocks[index // BLOCK] + index % BLOCK if self.blocks else index


def layouts(kernel: Kernel) -> dict[str, Layout]:
    """Return the layout of every output of a kernel, by name."""
    return {output.name: _layout(output, kernel.written(output.name)) for output in kernel.outputs}


def _layout(output: Argument, written: Iterable[int]) -> Layout:
    kept = sorted({index // BLOCK for index in written})
    count = -(-output.size // BLOCK)
    if count - len(kept) < max(1.0, WORTH * count):
        return Layout(output)
    places = {block: place for place, block in enumerate(kept)}
    return Layout(output, tuple(places.get(block, -1) for block in range(count)))


def zero_runs(kernel: Kernel, name: str) -> list[tuple[int, int]]:
    """Return the stretches ``(first, end)`` of an output that nothing sets."""
    output = next(o for o in kernel.outputs if o.name == name)
    edges = [-1, *sorted(kernel.written(name)), output.size]
    return [(a + 1, b) for a, b in pairwise(edges) if b > a + 1]
