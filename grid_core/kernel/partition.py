"""Splits a kernel into stages of independent parts, so that several groups of lanes can work on one batch of samples.

The graph of a robot algorithm is shallow: thousands of operations, but only some dozens deep. It is cut by depth into
stages; the operations of a stage fall into connected components, which are dealt to the workers. Cuts are chosen by
dynamic programming over the depths: a stage costs the load of its busiest worker plus a barrier. Deep stages save
barriers, flat ones fall into many small components that balance well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grid_core.trace.scalar import Scalar

SMALL = 2000
"""Operations of a kernel whose instructions stay in the nearest cache."""

LATENCY = {"sin": 20.0, "cos": 20.0, "div": 10.0, "sqrt": 10.0, "exp": 20.0, "log": 20.0, "tanh": 25.0, "atan2": 40.0}
"""What the dearer operations cost, in multiplications."""

LARGE = 20000
"""Operations from which on cuts by the latest start have always been the better ones, and a search takes seconds."""

HOPELESS = 4.0
"""Barriers by which a stage may be behind the best way to its depth; longer ones from the same start are left out."""

SLACK = 1.15
"""How much longer a stage may take so that values stay with the worker that made them."""

LONGEST = 40
"""Depths that one stage may span; longer ones never pay."""


@dataclass(frozen=True)
class Partition:
    """Stages, each with one list of node ids per worker, and the modelled time of the busiest path."""

    stages: tuple[tuple[tuple[int, ...], ...], ...]
    span: float


def partition(nodes: Sequence[Scalar], workers: int, blocks: int = 1) -> Partition:
    """Deal operations to ``workers`` that meet at a barrier after every stage.

    Parameters
    ----------
    nodes : sequence of Scalar
        In creation order. What they need beyond these is at hand.
    workers : int
    blocks : int
        How many blocks the workers belong to, equally many in a row to each; values travel less well between blocks.
    """
    graph = _Graph(nodes)
    small = len(nodes) < SMALL
    depths = [graph.latest()] if len(nodes) > LARGE else [graph.earliest(), graph.latest()]
    candidates = (_cut(graph, depth, _Team(workers, blocks, small=small)) for depth in depths)
    return min(candidates, key=lambda found: found.span)


class _Team:
    """The workers, what things cost them, and what each block of them has at hand while stages are dealt.

    Each operation of a large kernel is an instruction that runs once, and what takes time is fetching it. Measured on
    an H200: a worker gets an instruction every 2.7 cycles at best; all workers of a multiprocessor together get one
    every 1.0 cycles if no other runs the kernel, 1.7 if 15 others do, 2.5 if all do. A barrier takes some 80 cycles,
    one of several blocks 450. So the more workers share a block, the longer an operation of one of them takes, and the
    less other things cost in operations.

    Attributes
    ----------
    workers, blocks : int
    barrier : float
        What a barrier costs, in operations of one worker.
    traffic : float
        What it costs to save a value in the workspace, or to load one from it; several go with one instruction.
    fetch : float
        What an operation of any worker costs its block.
    block : list of int
        The block of each worker.
    """

    def __init__(self, workers: int, blocks: int, *, small: bool) -> None:
        self.workers = workers
        self.blocks = blocks
        share = workers / blocks
        self.barrier = 600.0 / share if blocks > 1 else 40.0 if small else max(15.0, 100.0 / share)
        self.traffic = 4.0 if small else 0.5
        self.fetch = 0.0 if small else 1.4 / share
        self.block = [worker * blocks // workers for worker in range(workers)]
        self._at_hand: list[set[int]] = [set() for _ in range(blocks)]
        self._maker: dict[int, int] = {}

    def affinity(self, needed: Iterable[int]) -> list[int]:
        """Return for each worker how many values it made itself or finds in its block; its own count twice."""
        made = [0] * self.workers
        near = [0] * len(self._at_hand)
        for value in needed:
            if value in self._maker:
                made[self._maker[value]] += 1
                for block, values in enumerate(self._at_hand):
                    near[block] += value in values
        return [own + near[block] for own, block in zip(made, self.block)]

    def give(self, worker: int, values: Iterable[int], needed: Iterable[int]) -> None:
        """Note that a worker makes ``values`` from ``needed`` ones."""
        at_hand = self._at_hand[self.block[worker]]
        at_hand.update(value for value in needed if value in self._maker)
        for value in values:
            self._maker[value] = worker
            at_hand.add(value)


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


def _cut(graph: _Graph, depth: list[float], team: _Team) -> Partition:
    """Choose the stages for one notion of depth."""
    workers = team.workers
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
            traffic = team.traffic * (len(saved) + 2 * len(components.foreign))
            busiest = components.span(workers) + traffic / workers
            fetching = team.fetch * (components.total + traffic) / team.blocks
            span = best[first] + max(busiest, fetching) + team.barrier
            if span < best[last + 1]:
                best[last + 1], previous[last + 1] = span, first
            elif span > best[last + 1] + HOPELESS * team.barrier:
                break
    cuts = []
    last = len(layers)
    while last > 0:
        cuts.append((previous[last], last))
        last = previous[last]
    stages = tuple(_deal(graph, layers[first:last], team) for first, last in reversed(cuts))
    return Partition(stages, best[-1])


def _last_readers(graph: _Graph, layers: Sequence[Sequence[int]]) -> list[int]:
    """Return the layer of the last reader of every operation."""
    last = [0] * len(graph.nodes)
    for number, layer in enumerate(layers):
        for position in layer:
            for argument in graph.arguments[position]:
                last[argument] = max(last[argument], number)
    return last


OUTSIDE = -1


class _Components:
    """Connected components of a growing set of operations (union-find), with their loads.

    Attributes
    ----------
    load : dict of int to float
        By the operation that stands for the component, which is its last one.
    foreign : set of int
        Arguments from outside the set.
    total, largest : float
        The sum of all loads, and the largest one.
    """

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph
        self._parent = [OUTSIDE] * len(graph.nodes)
        self.load: dict[int, float] = {}
        self.foreign: set[int] = set()
        self.total = 0.0
        self.largest = 0.0

    def add(self, layer: Iterable[int]) -> None:
        """Add operations; their arguments are outside or came before."""
        parent, load, foreign = self._parent, self.load, self.foreign
        cost, arguments = self._graph.cost, self._graph.arguments
        for position in layer:
            parent[position] = position
            joined = cost[position]
            self.total += joined
            for argument in arguments[position]:
                root = argument
                while (above := parent[root]) != root:  # this loop is most of the time that a large robot takes
                    if above == OUTSIDE:
                        foreign.add(argument)
                        break
                    parent[root] = root = parent[above]
                else:
                    if root != position:
                        parent[root] = position
                        joined += load.pop(root)
            load[position] = joined
            self.largest = max(self.largest, joined)

    def root(self, x: int) -> int:
        while (above := self._parent[x]) != x:
            x = above
        return x

    def span(self, workers: int) -> float:
        """Return the load of the busiest worker, exactly for few components and nearly so for many."""
        if len(self.load) > 4 * workers:
            return max(self.largest, self.total / workers)
        return max(_assign(sorted(self.load.values(), reverse=True), workers), default=0.0)


def _assign(loads: Sequence[float], workers: int) -> list[float]:
    """Give every load, largest first, to the least busy worker; return what each has then."""
    busy = [0.0] * workers
    for load in loads:
        busy[busy.index(min(busy))] += load
    return busy


def _deal(graph: _Graph, layers: Sequence[Sequence[int]], team: _Team) -> tuple[tuple[int, ...], ...]:
    """Return the node ids of a stage for each worker, in creation order, and tell the team who has what.

    A component goes to the worker that has most of its arguments, as long as the stage takes hardly longer by it.
    """
    components = _Components(graph)
    for layer in layers:
        components.add(layer)
    members: dict[int, list[int]] = {}
    for position in sorted(p for layer in layers for p in layer):
        members.setdefault(components.root(position), []).append(position)
    largest_first = sorted(members, key=lambda root: (-components.load[root], root))
    loads = [components.load[root] for root in largest_first]
    limit = SLACK * max(_assign(loads, team.workers))
    block_limit = SLACK * max(_assign(loads, team.blocks))
    busy = [0.0] * team.workers
    block_busy = [0.0] * team.blocks
    dealt: list[list[int]] = [[] for _ in busy]
    for root in largest_first:
        load = components.load[root]
        needed = {a for p in members[root] for a in graph.arguments[p]}
        affinity = team.affinity(needed)
        open_blocks = [b for b, spent in enumerate(block_busy) if spent + load <= block_limit]
        open_blocks = open_blocks or [block_busy.index(min(block_busy))]
        open_workers = [w for w, b in enumerate(team.block) if b in open_blocks]
        free = [w for w in open_workers if busy[w] + load <= limit] or [min(open_workers, key=lambda w: busy[w])]
        chosen = max(free, key=lambda w: (affinity[w], -busy[w], -w))
        busy[chosen] += load
        block_busy[team.block[chosen]] += load
        dealt[chosen] += members[root]
        team.give(chosen, members[root], needed)
    return tuple(tuple(graph.nodes[p].id for p in sorted(positions)) for positions in dealt)
