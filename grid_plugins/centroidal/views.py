"""Which joint columns are seen from which bodies, and the triples of a body and two columns seen from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grid_core.kernel.tree import TracedTree

NONE = -1
"""The number of no view."""


@dataclass(frozen=True)
class View:
    """A joint column seen from a body that it moves.

    Parameters
    ----------
    number : int
        Among all views.
    body : int
        The body that it is seen from.
    owner : int
        The body whose joint has the column.
    column, slot : int
        Place of the column in that joint, and its velocity slot.
    parent : int
        Number of the view of the same column from the parent of the body; -1 from the owner itself.
    """

    number: int
    body: int
    owner: int
    column: int
    slot: int
    parent: int = NONE

    @property
    def own(self) -> bool:
        """Whether the column is seen from the body that its joint carries."""
        return self.owner == self.body


@dataclass(frozen=True)
class Triple:
    """Two columns seen from one body: that of a row, and the one that moves.

    ``crossing`` tells that the latter is nearer to the body, so that it turns the former's motion.
    """

    row: View
    along: View

    @property
    def body(self) -> int:
        return self.row.body

    @property
    def crossing(self) -> bool:
        return self.row.owner < self.along.owner


def views_of(tree: TracedTree) -> list[View]:
    """Return all views: bodies in order, for each the columns above it from the root on."""
    views: list[View] = []
    seen: list[list[View]] = []
    for body, parent in enumerate(tree.parents):
        above = seen[parent] if parent >= 0 else []
        first = len(views)
        views += [View(first + n, body, v.owner, v.column, v.slot, v.number) for n, v in enumerate(above)]
        views += [View(len(views) + n, body, body, n, slot) for n, (slot, _) in enumerate(tree.columns[body])]
        seen.append(views[first:])
    return views


def triples_of(views: Sequence[View]) -> list[Triple]:
    """Return all triples, body by body."""
    seen: dict[int, list[View]] = {}
    for view in views:
        seen.setdefault(view.body, []).append(view)
    return [Triple(row, along) for own in seen.values() for row in own for along in own]
