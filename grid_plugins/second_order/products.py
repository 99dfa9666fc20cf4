"""Sums of products of matrices with vectors as loops over tables, with the zeros of a branched robot left out.

Sums that go through the same columns and entries share a loop. Each of its rows makes a few entries of one sum, so that
what it reads of the vectors serves several times.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

from grid_core.trace.scalar import Real
from grid_plugins.second_order.written_out import Loops, Named, TableRow

WIDTH = 8
"""Most entries that a row makes."""


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

    def add_to(self, totals: list[Real], row: TableRow, place: int) -> None:
        """Add entries, as many as there are totals, in a loop with the beginnings in columns from ``place`` on."""
        for column, entry in zip(self.columns, self.entries):
            value = self.sign * row.load(self.vector, place + 1, entry)
            for i in range(len(totals)):
                totals[i] = totals[i] + row.load(self.matrix, place, self.step * i + column) * value


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

    def row(self, i: int) -> list[int]:
        """Return the row of a table for the entries from ``i`` on."""
        return [
            *(x for p in self.products for x in (p.first + p.step * i, p.begin)),
            *(t.first + t.step * i for t in self.targets),
        ]


def add_up(loops: Loops, length: int, sums: Iterable[Sum]) -> None:
    """Compute sums with as many entries, or the last ones of them."""
    alike: dict[Hashable, list[Sum]] = {}
    for each in sums:
        alike.setdefault(each.kind, []).append(each)
    for group in alike.values():
        tables: dict[int, list[list[int]]] = {}
        for each in group:
            for i, size in blocks(each.first, length):
                tables.setdefault(size, []).append(each.row(i))
        for size, table in tables.items():
            loops.loop(sorted(table), _body(group[0], size))


def _body(like: Sum, size: int) -> Callable[[TableRow], None]:
    def body(row: TableRow) -> None:
        totals: list[Real] = [0.0] * size
        for number, product in enumerate(like.products):
            product.add_to(totals, row, 2 * number)
        for number, target in enumerate(like.targets, 2 * len(like.products)):
            for i, total in enumerate(totals):
                row.store(target.slots, number, total, target.step * i)

    return body


def blocks(first: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield where blocks of the entries from ``first`` on begin and how long they are; the last ones are alike."""
    most = -(-length // -(-length // WIDTH))
    for end in range(length, first, -most):
        begin = max(first, end - most)
        yield begin, end - begin
