"""Units that are built when they are first called for: those of a lazy robot, and products with Jacobians."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grid_core.build import RobotRequest, build, make_plan
from grid_core.build.entry import verified_unit
from grid_core.build.record import usable_record
from grid_core.errors import CompileError, GridError, StaleRobotError, ToolchainError
from grid_core.plugins.algorithm import Algorithm
from grid_store import CorruptEntryError, Store


class UnitsOnDemand:
    """Finds or builds single units of a robot; each is built once however many threads ask.

    Parameters
    ----------
    name : str
        The robot's name: what is built is added to its record, if it still means the same robot.
    request : RobotRequest
    store : Store
    built : mapping of str to Path
        The units that the robot has.
    """

    def __init__(self, name: str, request: RobotRequest, store: Store, built: Mapping[str, Path]) -> None:
        self._name = name
        self._request = request
        self._store = store
        self._built = built
        self._lock = threading.Lock()
        self._leases: list[Any] = []

    def path(self, algorithm: str, products: Sequence[Algorithm] = ()) -> Path:
        """Return the compiled file of an algorithm, which may be the last of some products."""
        try:
            return self._built.get(algorithm) or self._build(algorithm, products)
        except (CorruptEntryError, StaleRobotError) as lost:
            return self._build_again(algorithm, products, lost)

    def _build_again(self, algorithm: str, products: Sequence[Algorithm], lost: GridError) -> Path:
        """Build a unit that is damaged or gone; without a compiler, that is what matters to the user."""
        try:
            return self._build(algorithm, products)
        except CompileError:
            raise
        except ToolchainError as error:
            raise lost from error

    def _build(self, algorithm: str, products: Sequence[Algorithm]) -> Path:
        with self._lock:
            request = replace(self._request, algorithms=(algorithm,), products=tuple(products))
            entry = build(make_plan(request, self._store), self._store)[algorithm]
            self._leases.append(self._store.lease(entry.key))
            self._remember(algorithm, entry.key)
        return verified_unit(entry)

    def _remember(self, algorithm: str, key: str) -> None:
        """Add a unit to the robot's record: collection then keeps it, and it is found without a compiler."""
        record = usable_record(self._name, self._store)
        if record and record["request"] == self._request.identity().digest:
            self._store.bind(self._name, {**record, "units": {**record["units"], algorithm: key}})
