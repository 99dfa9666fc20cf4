"""Splits a kernel into stages of independent parts, so that several groups of lanes can work on one batch of samples.

The graph of a robot algorithm is shallow: thousands of operations, but only some dozens deep. It is cut by depth into
stages; the operations of a stage fall into connected components, which are dealt to the workers. Cuts are chosen by
dynamic programming over the depths: a stage costs the load of its busiest worker plus a barrier. Deep stages save
barriers, flat ones fall into many small components that balance well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grid_core.errors import TraceError
from grid_core.kernel.kernel import Kernel, Loop
from grid_core.trace.scalar import Scalar

BARRIER = 40.0
"""What a barrier costs, in operations of one lane."""

TRAFFIC = 4
"""What it costs to save a value in the workspace, or to load one from it."""

LATENCY = {"sin": 20.0, "cos": 20.0, "div": 10.0, "sqrt": 10.0, "exp": 20.0, "log": 20.0, "tanh": 25.0, "atan2": 40.0}
"""What the dearer operations cost, in multiplications."""

SLACK = 1.15
"""How much longer a stage may take so that values stay with the worker that made them."""

LONGEST = 40
"""Depths that one stage may span; longer ones never pay."""


@dataclass(frozen=True)
class Partition:
    """Stages, each with one list of node ids per worker, and the modelled time of the busiest path."""

    stages: tuple[tuple[tuple[int, ...], ...], ...]
    span: float


def partition(kernel: Kernel, workers: int) -> Partition:
    """Deal a kernel's operations to ``workers`` that meet at a barrier after every stage.

    Raises
    ------
    TraceError
        The kernel has table loops, whose rows are not split; run it with one worker.
    """
    if any(isinstance(action, Loop) for action in kernel.actions):
        raise TraceError(f"{kernel.name} has table loops and cannot be dealt to several workers; use one")
    graph = _Graph([node for node in kernel.nodes() if node.op != "input"])
    candidates = (_cut(graph, depth, workers) for depth in (graph.earliest(), graph.latest()))
    return min(candidates, key=lambda found: found.span)


class _Graph:
    """Operations by position, with arguments as positions: what the search needs, in plain lists."""

    def __init__(self, nodes: Sequence[Scalar]) -> None:
        self.nodes = nodes
        place = {node.id: position for position, node in enumerate(nodes)}
        self.cost = [LATENCY.get(node.op, 1.0) for node in nodes]
        self.arguments = [[place[a.id] for a in node.args if isinstance(a, Scalar) and a.id in place] for node in nodes]

    def earliest(self) -> list[float]:
        """Return when each operation can start at the earliest."""
        start: list[float] = []
        for arguments in self.arguments:
            start.append(max((start[a] + self.cost[a] for a in arguments), default=0.0))
        return start

    def latest(self) -> list[float]:
        """Return when each operation must start at the latest to keep the shortest possible time."""
        end = max((s + c for s, c in zip(self.earliest(), self.cost)), default=0.0)
        limit = [end] * len(self.nodes)
        for position in reversed(range(len(self.nodes))):
            for a in self.arguments[position]:
                limit[a] = min(limit[a], limit[position] - self.cost[position])
        return [last - cost for last, cost in zip(limit, self.cost)]


def _cut(graph: _Graph, depth: list[float], workers: int) -> Partition:
    """Choose the stages for one notion of depth."""
    levels: dict[float, list[int]] = {}
    for position, d in enumerate(depth):
        levels.setdefault(d, []).append(position)
    layers = [levels[d] for d in sorted(levels)]
    last_reader = _last_readers(graph, layers)
    best = [0.0] + [float("inf")] * len(layers)
    previous = [0] * (len(layers) + 1)
    for first in range(len(layers)):
        components = _Components(graph)
        saved: list[int] = []
        for last in range(first, min(len(layers), first + LONGEST)):
            components.add(layers[last])
            saved = [p for p in (*saved, *layers[last]) if last_reader[p] > last]
            traffic = TRAFFIC * (len(saved) + len(components.foreign)) / workers
            span = best[first] + components.span(workers) + traffic + BARRIER
            if span < best[last + 1]:
                best[last + 1], previous[last + 1] = span, first
    cuts = []
    last = len(layers)
    while last > 0:
        cuts.append((previous[last], last))
        last = previous[last]
    owner: dict[int, int] = {}
    stages = tuple(_deal(graph, layers[first:last], workers, owner) for first, last in reversed(cuts))
    return Partition(stages, best[-1])


def _last_readers(graph: _Graph, layers: Sequence[Sequence[int]]) -> list[int]:
    """Return the layer of the last reader of every operation."""
    last = [0] * len(graph.nodes)
    for number, layer in enumerate(layers):
        for position in layer:
            for argument in graph.arguments[position]:
                last[argument] = max(last[argument], number)
    return last


class _Components:
    """Connected components of a growing set of operations (union-find), with their loads."""

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph
        self._parent: dict[int, int] = {}
        self.load: dict[int, float] = {}
        self.foreign: set[int] = set()
        """Arguments from outside the set."""
        self._total = 0.0

    def add(self, layer: Iterable[int]) -> None:
        for position in layer:
            self._parent[position] = position
            self.load[position] = self._graph.cost[position]
            self._total += self._graph.cost[position]
            for argument in self._graph.arguments[position]:
                if argument in self._parent:
                    self._join(argument, position)
                else:
                    self.foreign.add(argument)

    def _join(self, a: int, b: int) -> None:
        a, b = self.root(a), self.root(b)
        if a != b:
            self._parent[a] = b
            self.load[b] += self.load.pop(a)

    def root(self, x: int) -> int:
        while self._parent[x] != x:
            self._parent[x] = self._parent[self._parent[x]]
            x = self._parent[x]
        return x

    def span(self, workers: int) -> float:
        """Return the load of the busiest worker, exactly for few components and nearly so for many."""
        loads = sorted(self.load.values(), reverse=True)
        if len(loads) > 4 * workers:
            return max(loads[0], self._total / workers)
        return max(_assign(loads, workers), default=0.0)


def _assign(loads: Sequence[float], workers: int) -> list[float]:
    """Give every load, largest first, to the least busy worker; return what each has then."""
    busy = [0.0] * workers
    for load in loads:
        busy[busy.index(min(busy))] += load
    return busy


def _deal(
    graph: _Graph, layers: Sequence[Sequence[int]], workers: int, owner: dict[int, int]
) -> tuple[tuple[int, ...], ...]:
    """Return the node ids of a stage for each worker, in creation order, and note in ``owner`` who has what.

    A component goes to the worker that owns most of its arguments, as long as the stage takes hardly longer by it.
    """
    components = _Components(graph)
    for layer in layers:
        components.add(layer)
    members: dict[int, list[int]] = {}
    for position in sorted(p for layer in layers for p in layer):
        members.setdefault(components.root(position), []).append(position)
    largest_first = sorted(members, key=lambda root: (-components.load[root], root))
    limit = SLACK * max(_assign([components.load[root] for root in largest_first], workers))
    busy = [0.0] * workers
    dealt: list[list[int]] = [[] for _ in range(workers)]
    for root in largest_first:
        load = components.load[root]
        foreign = {a for p in members[root] for a in graph.arguments[p] if a in owner}
        owned = [0] * workers
        for argument in foreign:
            owned[owner[argument]] += 1
        free = [w for w in range(workers) if busy[w] + load <= limit] or [busy.index(min(busy))]
        chosen = max(free, key=lambda w: (owned[w], -busy[w], -w))
        busy[chosen] += load
        dealt[chosen] += members[root]
    for worker, positions in enumerate(dealt):
        owner.update(dict.fromkeys(positions, worker))
    return tuple(tuple(graph.nodes[p].id for p in sorted(positions)) for positions in dealt)
