"""Sums of products of matrices with vectors as loops over tables, with the zeros of a branched robot left out.

Sums that go through the same columns and entries share a loop. Each of its rows makes a few entries of a few sums with
one matrix, so that what it reads of matrix and vectors serves several times.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, cycle

from grid_core.trace.scalar import Real
from grid_plugins.second_order.written_out import Loops, Named, TableRow

WIDTH = 8
"""Most entries of a sum that a row makes."""

ACROSS = 2
"""Most sums of which a row makes entries. The totals are to stay in registers."""


@dataclass(frozen=True)
class Product:
    """Some columns of a matrix times a vector: entry ``i`` is the sum of ``matrix[i, m] * vector[m]``."""

    matrix: Named
    first: int
    """Where the matrix begins."""
    step: int
    """From one row of the matrix to the next."""
    columns: tuple[int, ...]
    """How far from the beginning of a row its entries are."""
    vector: Named
    begin: int
    """Where the vector begins."""
    entries: tuple[int, ...]
    """How far from there its entries are."""
    sign: float = 1.0

    @property
    def kind(self) -> Hashable:
        """What those that share a loop have in common."""
        return self.matrix.name, self.step, self.columns, self.vector.name, self.entries, self.sign


@dataclass(frozen=True)
class Target:
    """Where a vector goes: entry ``i`` to ``slots[first + step * i]``."""

    slots: Named
    first: int
    step: int


@dataclass(frozen=True)
class Sum:
    """A sum of products, and where its entries from some first one on go."""

    products: tuple[Product, ...]
    targets: tuple[Target, ...]
    first: int = 0

    @property
    def kind(self) -> Hashable:
        """What those that share a loop have in common."""
        return tuple(p.kind for p in self.products), tuple((t.slots.name, t.step) for t in self.targets)


@dataclass(frozen=True)
class Batch:
    """Sums of one kind, of which a row of a loop makes the same entries.

    What all of them read at one place has one column in a table.
    """

    sums: tuple[Sum, ...]

    @property
    def kind(self) -> Hashable:
        """What those that share a loop have in common."""
        return self.sums[0].kind, len(self.sums), tuple(map(len, self._places(0)))

    def row(self, i: int) -> list[int]:
        """Return the row of a table for the entries from ``i`` on."""
        return [place for places in self._places(i) for place in places]

    def _places(self, i: int) -> list[tuple[int, ...]]:
        """Return where matrices and vectors of every product begin, once if that is the same for all, and targets."""
        read = [
            tuple(places if len(set(places)) > 1 else places[:1])
            for several in zip(*(each.products for each in self.sums))
            for places in ([p.first + p.step * i for p in several], [p.begin for p in several])
        ]
        return read + [tuple(t.first + t.step * i for t in each.targets) for each in self.sums]

    def body(self, size: int) -> Callable[[TableRow], None]:
        """Return the body of the loop whose rows make ``size`` entries of each sum."""
        numbers = count()
        *read, _ = columns = [[next(numbers) for _ in places] for places in self._places(0)]
        like = self.sums[0]

        def run(row: TableRow) -> None:
            totals: list[list[Real]] = [[0.0] * size for _ in self.sums]
            for number, product in enumerate(like.products):
                matrices, vectors = (read[2 * number + n] for n in range(2))
                for column, entry in zip(product.columns, product.entries):
                    for total, matrix, vector in zip(totals, cycle(matrices), cycle(vectors)):
                        value = product.sign * row.load(product.vector, vector, entry)
                        for i in range(size):
                            total[i] = total[i] + row.load(product.matrix, matrix, product.step * i + column) * value
            for total, places in zip(totals, columns[2 * len(like.products) :]):
                for target, place in zip(like.targets, places):
                    for i, x in enumerate(total):
                        row.store(target.slots, place, x, target.step * i)

        return run


def add_up(loops: Loops, length: int, sums: Iterable[Sum]) -> None:
    """Compute sums with as many entries, or the last ones of them."""
    alike: dict[Hashable, list[Batch]] = {}
    for batch in _batches(sums):
        alike.setdefault(batch.kind, []).append(batch)
    for group in alike.values():
        tables: dict[int, list[list[int]]] = {}
        for batch in group:
            for i, size in blocks(batch.sums[0].first, length):
                tables.setdefault(size, []).append(batch.row(i))
        for size, table in tables.items():
            loops.loop(sorted(table), group[0].body(size))


def _batches(sums: Iterable[Sum]) -> Iterator[Batch]:
    """Put together sums that go through one matrix in the same way."""
    alike: dict[Hashable, list[Sum]] = {}
    for each in sums:
        alike.setdefault((each.kind, each.first, each.products[0].first), []).append(each)
    for group in alike.values():
        for first in range(0, len(group), ACROSS):
            yield Batch(tuple(group[first : first + ACROSS]))


def blocks(first: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield where blocks of the entries from ``first`` on begin and how long they are; the last ones are alike."""
    most = -(-length // -(-length // WIDTH))
    for end in range(length, first, -most):
        begin = max(first, end - most)
        yield begin, end - begin
