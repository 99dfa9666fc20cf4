"""What compiling is expected to cost, by what the builds of registered robots took."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grid_core.build.record import usable_record
from grid_core.build.request import RobotRequest
from grid_core.build.targets import target_of
from grid_core.toolchains import worker_count
from grid_store import Store


@dataclass(frozen=True)
class Cost:
    """What a unit took to compile.

    Attributes
    ----------
    seconds : float
    memory : int
        Bytes that the compiler had resident.
    robot : str
        The registered robot whose unit that was.
    """

    seconds: float
    memory: int
    robot: str


@dataclass(frozen=True)
class Total:
    """What several units take together.

    Attributes
    ----------
    compile_seconds : float
        One after the other.
    seconds : float
        With ``workers`` compilers at once.
    memory : int
        Bytes of the largest ones, as many as run at once.
    workers : int
    """

    compile_seconds: float
    seconds: float
    memory: int
    workers: int


class RecordedCosts:
    """The costs of the units that names of a store mention. Asking does not count as use of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        records = ((name, usable_record(name, store)) for name in store.names())
        self._units = {name: record["units"] for name, record in records if record}

    def expected(self, algorithm: str, request: RobotRequest, nv: int) -> Cost | None:
        """Return what the same algorithm took for the most similar build: target, then float type, then size."""
        found = self._recorded(algorithm, request, nv)
        return min(found, key=lambda pair: pair[0], default=(None, None))[1]

    def _recorded(
        self, algorithm: str, request: RobotRequest, nv: int
    ) -> Iterator[tuple[tuple[bool, float, str], Cost]]:
        for name, units in self._units.items():
            entry = self._store.get(units[algorithm], used=False) if algorithm in units else None
            if entry is None or target_of(entry.meta["level"]).name != request.target.name:
                continue
            distance = abs(math.log((1 + nv) / (1 + entry.meta["nv"])))
            other_type = entry.meta["dtype"] != request.options.dtype
            yield (other_type, distance, name), Cost(entry.meta["seconds"], entry.meta["memory"], name)


def total(costs: Iterable[Cost]) -> Total:
    """Return what units take together on this machine."""
    found = list(costs)
    workers = worker_count(len(found))
    free = [0.0] * workers
    for cost in sorted(found, key=lambda cost: -cost.seconds):
        heapq.heapreplace(free, free[0] + cost.seconds)
    largest = heapq.nlargest(workers, (cost.memory for cost in found))
    return Total(sum(cost.seconds for cost in found), max(free), sum(largest), workers)
