"""Loops over tables written out row by row, until nothing is left of the tables.

Code of small robots is short even so, and a target whose threads share one sample can deal it to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from grid_core.kernel.builder import KernelBuilder
from grid_core.trace.scalar import Real


class Named(Protocol):
    """Slots, or what takes their place."""

    @property
    def name(self) -> str: ...


class TableRow(Protocol):
    """What a row of a table offers to the body of a loop."""

    def load(self, source: Any, column: int, offset: int = 0) -> Real: ...

    def store(self, target: Any, column: int, value: Real, offset: int = 0) -> None: ...


class Loops(Protocol):
    """What a kernel builder has for loops, and :class:`WrittenOut` too."""

    def array(self, name: str, values: Sequence[Real | None]) -> Any: ...

    def result(self, name: str) -> Any: ...

    def loop(self, table: Sequence[Sequence[int]], body: Callable[[Any], None]) -> None: ...

    def section(self, label: str) -> AbstractContextManager[None]: ...


@dataclass(frozen=True)
class Numbers:
    """Scalars that stand for slots."""

    name: str
    values: list[Real]


@dataclass(frozen=True)
class WrittenRow:
    """A row of a table whose loop is written out."""

    row: Sequence[int]

    def load(self, source: Numbers, column: int, offset: int = 0) -> Real:
        return source.values[offset + self.row[column]]

    def store(self, target: Numbers, column: int, value: Real, offset: int = 0) -> None:
        target.values[offset + self.row[column]] = value


class WrittenOut:
    """Takes the place of a kernel builder of which all results are cubes."""

    def __init__(self, k: KernelBuilder) -> None:
        self._k = k
        self._results: list[Numbers] = []

    def array(self, name: str, values: Sequence[Real | None]) -> Numbers:
        return Numbers(name, [0.0 if value is None else value for value in values])

    def result(self, name: str) -> Numbers:
        self._results.append(self.array(name, [0.0] * self._k.model.nv**3))
        return self._results[-1]

    def loop(self, table: Sequence[Sequence[int]], body: Callable[[Any], None]) -> None:
        for row in table:
            body(WrittenRow(row))

    def section(self, label: str) -> AbstractContextManager[None]:
        return self._k.section(label)

    def finish(self) -> None:
        """Set the results."""
        nv = self._k.model.nv
        for numbers in self._results:
            rows = [numbers.values[first : first + nv] for first in range(0, nv**3, nv)]
            self._k.output(numbers.name, [rows[first : first + nv] for first in range(0, nv**2, nv)])


@contextmanager
def written_out(k: KernelBuilder) -> Iterator[WrittenOut]:
    """Give what writes loops out, and set the results in the end."""
    written = WrittenOut(k)
    yield written
    written.finish()
