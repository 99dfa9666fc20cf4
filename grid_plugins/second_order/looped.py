"""The tensors of inverse dynamics as loops over the pairs and triples of coordinates on one branch.

Straight-line code grows with the cube of the number of joints on a branch; loops do not. Coordinates of joints at the
root, a floating base above all, stay unrolled inside the loops: their columns are constants, and their parent rests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from grid_core.kernel.builder import KernelBuilder, Row, Slots, Workspace
from grid_core.model import Model
from grid_core.trace.scalar import Real, is_zero
from grid_plugins.second_order.branches import Branches, Coordinate
from grid_plugins.second_order.terms import Member, Moved, Pair, Relation, Tensor, fill

MANY = 1000
"""Triples on one branch from which straight-line code is too long."""

Variables = tuple[Coordinate, ...]
"""The coordinates that a row of a loop stands for."""


def many_triples(branches: Branches) -> bool:
    """Return whether straight-line code would be too long."""
    return sum(1 for _ in branches.triples()) > MANY


@dataclass(frozen=True)
class Kind:
    """What the rows of one loop have in common."""

    singles: tuple[bool, ...]
    """Whether each coordinate is the only one of its joint."""
    relations: tuple[Relation, ...]
    """Where each coordinate is, seen from the one before."""

    @classmethod
    def of(cls, row: Variables) -> Kind:
        return cls(tuple(a.single for a in row), tuple(b.seen_from(a) for a, b in pairwise(row)))


@dataclass(frozen=True)
class Variable:
    """The slot of a row's coordinate, by its number in the row."""

    number: int


Index = int | Variable
"""An index of an entry: a slot, or that of one of the row's coordinates."""

Column = tuple[str, tuple[Index, ...]]
"""What a column of a table holds: where the numbers of some coordinates begin, or the place of an entry."""


class Cubes(Protocol):
    """Where the entries of the tensors are kept."""

    @property
    def slots(self) -> Mapping[Tensor, Slots]:
        """The slots of each tensor."""

    @property
    def cleared(self) -> bool:
        """Whether slots are zero at first."""

    def place(self, i: int, j: int, k: int) -> int:
        """Return the slot of entry ``[i, j, k]`` among those of a tensor."""


class Outputs:
    """The tensors as outputs of an algorithm."""

    cleared = True

    def __init__(self, k: KernelBuilder) -> None:
        self.slots = {tensor: k.result(tensor.value) for tensor in Tensor}
        self.nv = k.model.nv

    def place(self, i: int, j: int, k: int) -> int:
        """Return the slot of entry ``[i, j, k]`` among those of a tensor."""
        return (i * self.nv + j) * self.nv + k


@dataclass
class Body:
    """What the body of a loop reads and writes, whether it runs once for its columns' sake or is traced.

    Without a row, everything that is read is a number, and columns are noted as they are asked for.
    """

    shared: bool
    """Whether coordinates share slots, so that entries have to be added up."""
    cubes: Cubes
    moved: Workspace
    pairs: Workspace
    row: Row | None = None
    columns: list[Column] = field(default_factory=list)

    def members(self, singles: Sequence[bool]) -> list[Member]:
        """Return the coordinates of the row."""
        readers = (self._reader(self.moved, ("moved", (number,))) for number in range(len(singles)))
        moved = (Moved.read(reader, single) for reader, single in zip(readers, singles))
        return [Member(Variable(number), m) for number, m in enumerate(moved)]

    def pair(self, a: int, b: int) -> Pair:
        return Pair.read(self._reader(self.pairs, ("pair", (a, b))))

    def keep(self, pair: Pair) -> None:
        """Keep the pair of the row's first two coordinates for the loops that follow."""
        column = self._column(("pair", (0, 1)))
        if self.row is not None:
            for offset, value in enumerate(pair.flat()):
                self.row.store(self.pairs, column, value, offset)

    def add(self, tensor: Tensor, value: Real, *places: Sequence[Member]) -> None:
        for place in places:
            column = self._column(("entry", tuple(m.slot for m in place)))
            if self.row is not None and not (self.cubes.cleared and is_zero(value)):
                put = self.row.accumulate if self.shared else self.row.store
                put(self.cubes.slots[tensor], column, value)

    def _column(self, wanted: Column) -> int:
        if wanted not in self.columns:
            assert self.row is None, "the body does the same whenever it runs"
            self.columns.append(wanted)
        return self.columns.index(wanted)

    def _reader(self, source: Workspace, wanted: Column) -> Callable[[int], Real]:
        column, row = self._column(wanted), self.row
        return lambda offset: 1.0 if row is None else row.load(source, column, offset)


class Looped:
    """Fills the tensors of one robot."""

    def __init__(self, k: KernelBuilder, branches: Branches, cubes: Cubes) -> None:
        self.k = k
        self.branches = branches
        outer = [a for a in branches.coordinates if branches.parents[a.joint] >= 0]
        self.pairs = [(a, b) for a in outer for b in self.beyond_root(a)]
        kept: list[Real] = []
        self.moved_at = {}
        for a in outer:
            self.moved_at[a.number] = len(kept)
            kept += a.moved.flat()
        self.pair_at = {(a.number, b.number): Pair.SIZE * n for n, (a, b) in enumerate(self.pairs)}
        self.body = Body(
            shares_slots(k.model),
            cubes,
            k.array("moved", kept),
            k.array("pairs", [None] * (Pair.SIZE * len(self.pairs))),
        )

    def fill(self, curvature: Sequence[Real]) -> None:
        """Fill all entries, with the second derivative of joint friction per slot."""
        for root in self.branches.roots:
            self.fill_root(root)
        self.fill_triples()
        self.add_curvature(curvature)

    def beyond_root(self, a: Coordinate) -> list[Coordinate]:
        return [b for b in self.branches.towards_root(a) if self.branches.parents[b.joint] >= 0]

    def fill_root(self, root: int) -> None:
        """Fill all entries with coordinates of a joint at the root, and make the pairs of the others."""
        own = self.branches.joints[root]
        members = {a.number: Member(a.slot, a.moved) for a in own}
        pairs = [(a, b) for a, b in self.pairs if self.branches.root_of(a) == root]

        def pair_beyond(kind: Kind, body: Body) -> None:
            a, b = body.members(kind.singles)
            pair = Pair.of(a.moved, b.moved, kind.relations[0])
            body.keep(pair)
            for c in own:
                fill(body.add, pair, (a, b, members[c.number]), kind.relations[0], Relation.NEARER)

        def one_beyond(kind: Kind, body: Body) -> None:
            (a,) = body.members(kind.singles)
            for b in own:
                pair = Pair.of(a.moved, b.moved, Relation.NEARER)
                for c in own:
                    triple = a, members[b.number], members[c.number]
                    fill(body.add, pair, triple, Relation.NEARER, c.seen_from(b))

        def none_beyond(_: Kind, body: Body) -> None:
            for a in own:
                for b in own:
                    pair = Pair.of(a.moved, b.moved, b.seen_from(a))
                    for c in own:
                        triple = (members[x.number] for x in (a, b, c))
                        fill(body.add, pair, triple, b.seen_from(a), c.seen_from(b))

        self.loops("pairs", pairs, pair_beyond)
        self.loops("with the root", [(a,) for a in {a.number: a for a, _ in pairs}.values()], one_beyond)
        self.loops("the root", [()], none_beyond)

    def fill_triples(self) -> None:
        """Fill the entries of triples without coordinates at the root."""
        triples = [(a, b, c) for a, b in self.pairs for c in self.beyond_root(b)]

        def three_beyond(kind: Kind, body: Body) -> None:
            fill(body.add, body.pair(0, 1), body.members(kind.singles), *kind.relations)

        self.loops("triples", triples, three_beyond)

    def add_curvature(self, curvature: Sequence[Real]) -> None:
        """Add the second derivative of joint friction, per slot, to the diagonal of the velocities' tensor."""
        if all(map(is_zero, curvature)):
            return
        cubes = self.body.cubes
        source, target = self.k.array("curvature", curvature), cubes.slots[Tensor.VELOCITIES]
        table = [(slot, cubes.place(slot, slot, slot)) for slot in range(self.k.model.nv)]
        self.k.loop(table, lambda row: row.accumulate(target, 1, row.load(source, 0)))

    def loops(self, label: str, rows: Iterable[Variables], trace: Callable[[Kind, Body], None]) -> None:
        """Run a body for every row, one loop for each kind; a first run finds out which columns its table needs."""
        kinds: dict[Kind, list[Variables]] = {}
        for variables in rows:
            kinds.setdefault(Kind.of(variables), []).append(variables)
        for kind, alike in kinds.items():
            body = self.body
            body.columns = []
            trace(kind, body)
            table = [[self.value(column, variables) for column in body.columns] for variables in alike]

            def traced(row: Row, kind: Kind = kind) -> None:
                self.body.row = row
                trace(kind, self.body)
                self.body.row = None

            with self.k.section(f"second derivatives: {label}"):
                self.k.loop(table, traced)

    def value(self, column: Column, row: Variables) -> int:
        """Return what a column holds for a row."""
        kind, indices = column
        if kind == "entry":
            return self.body.cubes.place(*(i if isinstance(i, int) else row[i.number].slot for i in indices))
        numbers = [row[i].number for i in indices if isinstance(i, int)]
        return self.moved_at[numbers[0]] if kind == "moved" else self.pair_at[numbers[0], numbers[1]]


def shares_slots(model: Model) -> bool:
    """Return whether several coordinates of a robot may have one velocity slot."""
    return any(joint.mimic for joint in model.joints)
