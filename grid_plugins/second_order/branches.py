"""The joint coordinates of a robot, and which of them lie on one branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from grid_core.kernel.ground import Ground
from grid_plugins.second_order.terms import Moved, Relation


@dataclass(frozen=True)
class Coordinate:
    """A column of a joint: its number, its joint, its place there, its velocity slot and what it moves."""

    number: int
    joint: int
    index: int
    slot: int
    moved: Moved

    @property
    def single(self) -> bool:
        """Whether its joint has no other."""
        return self.moved.moving is None

    def seen_from(self, other: Coordinate) -> Relation:
        """Return where this coordinate is, seen from another one on its joint or further from the root."""
        if self.joint != other.joint:
            return Relation.NEARER
        if self.index == other.index:
            return Relation.ITSELF
        return Relation.BEFORE if self.index < other.index else Relation.AFTER


Triple = tuple[Coordinate, Coordinate, Coordinate]


class Branches:
    """All coordinates of a robot in motion."""

    def __init__(self, ground: Ground) -> None:
        self.parents = ground.tree.parents
        self.joints: list[list[Coordinate]] = []
        number = 0
        for i, columns in enumerate(ground.columns):
            self.joints.append([])
            for index, column in enumerate(columns):
                moved = Moved.of(column, ground.composites[i], len(columns))
                self.joints[i].append(Coordinate(number, i, index, column.slot, moved))
                number += 1

    @cached_property
    def roots(self) -> list[int]:
        """The joints that hang on the world."""
        return [i for i, parent in enumerate(self.parents) if parent < 0]

    def root_of(self, a: Coordinate) -> int:
        """Return the joint at the root of a coordinate's tree."""
        i = a.joint
        while self.parents[i] >= 0:
            i = self.parents[i]
        return i

    @cached_property
    def coordinates(self) -> list[Coordinate]:
        return [a for joint in self.joints for a in joint]

    def towards_root(self, a: Coordinate) -> Iterator[Coordinate]:
        """Yield the coordinates of a coordinate's joint and of all joints between it and the root, nearest first."""
        i = a.joint
        while i >= 0:
            yield from self.joints[i]
            i = self.parents[i]

    def triples(self) -> Iterator[Triple]:
        """Yield all triples on one branch, each on the joint of the one before or nearer to the root."""
        for a in reversed(self.coordinates):
            for b in self.towards_root(a):
                for c in self.towards_root(b):
                    yield a, b, c
