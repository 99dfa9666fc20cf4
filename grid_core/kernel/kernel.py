"""The kernel form: what a traced algorithm is before it becomes code.

A kernel has named inputs and outputs with per-sample sizes, and an ordered list of actions that write results. An
action is either the store of one traced scalar, or a loop over a constant table whose body was traced once. A target
runs it in order, or splits it into stages of independent parts (:mod:`grid_core.kernel.partition`). Nodes and actions
carry the *section* in which the algorithm made them: a comment in generated code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grid_core.trace.scalar import Graph, Real, Scalar, reachable

LEAVES = frozenset({"input", "load", "slot"})
"""Operations that read memory: a kernel input, a workspace slot at a loop's row, a workspace slot."""


@dataclass(frozen=True)
class Argument:
    """A named input or output of ``size`` scalars per sample; most calls hold a ``held`` one the same for all."""

    name: str
    size: int
    shape: tuple[int, ...]
    held: bool = False


@dataclass(frozen=True)
class Store:
    """``target[index] = value``; the target is an output or an array of the workspace."""

    target: str
    index: int
    value: Real
    section: str
    order: int
    """The number of nodes that existed when the action was made; it runs before younger nodes."""


@dataclass(frozen=True)
class RowStore:
    """Inside a loop: ``target[offset + table[row][column]] = value`` (``+=`` if ``accumulate``)."""

    target: str
    column: int
    offset: int
    value: Real
    accumulate: bool


@dataclass(frozen=True)
class Loop:
    """A loop over the rows of a constant integer table; the body was traced once."""

    table: tuple[tuple[int, ...], ...]
    stores: tuple[RowStore, ...]
    section: str
    order: int
    first: int = 0
    """The number of nodes that existed before its body was traced: what is older is the same for every row."""

    def reached(self, store: RowStore) -> list[int]:
        """Return the slot that one of the stores sets, for every row."""
        return [store.offset + row[store.column] for row in self.table]

    def body(self) -> list[Scalar]:
        """Return the nodes that depend on the row, in creation order."""
        varying: dict[int, Scalar] = {}
        for node in reachable((s.value for s in self.stores), self.first):
            if node.op == "load" or any(isinstance(a, Scalar) and a.id in varying for a in node.args):
                varying[node.id] = node
        return list(varying.values())

    def captured(self) -> list[Scalar]:
        """Return the nodes computed before the loop that the body or its stores read."""
        body = self.body()
        inside = {n.id for n in body}
        needed: dict[int, Scalar] = {}
        for node in body:
            needed |= {a.id: a for a in node.args if isinstance(a, Scalar) and a.id not in inside}
        for store in self.stores:
            if isinstance(store.value, Scalar) and store.value.id not in inside:
                needed[store.value.id] = store.value
        return [needed[number] for number in sorted(needed)]


Action = Store | Loop


@dataclass
class Kernel:
    """One traced algorithm for one robot."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    arrays: tuple[Argument, ...]
    actions: tuple[Action, ...]
    graph: Graph

    def written(self, name: str) -> set[int]:
        """Return the entries of an output that an action sets; all others are zero."""
        entries: set[int] = set()
        for action in self.actions:
            if isinstance(action, Store):
                entries |= {action.index} if action.target == name else set()
            else:
                entries.update(i for store in action.stores if store.target == name for i in action.reached(store))
        return entries

    def roots(self) -> Iterator[Scalar]:
        """Yield every scalar that an action reads."""
        for action in self.actions:
            if isinstance(action, Store):
                if isinstance(action.value, Scalar):
                    yield action.value
            else:
                yield from action.captured()

    def nodes(self) -> list[Scalar]:
        """Return the live nodes outside loop bodies, in creation order."""
        return reachable(self.roots())

    def events(self) -> list[Scalar | Action]:
        """Return live nodes and actions in the order in which they have to run."""
        keyed = [((n.id, 1), n) for n in self.nodes()] + [((a.order, 0), a) for a in self.actions]
        return [event for _, event in sorted(keyed, key=lambda pair: pair[0])]

    def operations(self) -> dict[str, int]:
        """Return how often each operation is executed per sample."""
        counts: dict[str, int] = {}
        for node in self.nodes():
            if node.op not in LEAVES:
                counts[node.op] = counts.get(node.op, 0) + 1
        for loop in self.actions:
            if isinstance(loop, Loop):
                for node in loop.body():
                    if node.op not in LEAVES:
                        counts[node.op] = counts.get(node.op, 0) + len(loop.table)
        return counts
