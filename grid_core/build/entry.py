"""Robot entries: the record that a name in the store leads to, and what is loaded from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grid_core.build.models import DESCRIPTION, read_model
from grid_core.build.options import BuildOptions
from grid_core.build.plan import Plan
from grid_core.build.record import faults
from grid_core.build.request import SCHEMA, RobotRequest
from grid_core.build.targets import target_of
from grid_core.errors import ArgumentError, RobotNotRegisteredError, StaleRobotError, nearest
from grid_core.model import Model
from grid_core.model.xml_source import read_source
from grid_store import CorruptEntryError, Entry, EntryMissingError, Store

LISTED = 10
"""Names of robots that an error lists."""


@dataclass(frozen=True)
class RobotEntry:
    """A registered robot.

    Attributes
    ----------
    name : str
    model : Model
    options : BuildOptions
    units : mapping of str to Path
        The shared object of each algorithm, its digest checked when it is looked up.
    record : dict
        The stored record as it is.
    """

    name: str
    model: Model
    options: BuildOptions
    units: UnitPaths
    record: dict[str, Any]


@dataclass(frozen=True)
class UnitPaths(Mapping[str, Path]):
    """Paths of units by algorithm. Entries stay leased while this object lives, so that no collection removes them.

    Looking a path up verifies the unit: ``CorruptEntryError`` says that it is damaged, ``StaleRobotError`` that it is
    gone.
    """

    store: Store
    entries: Mapping[str, Entry]
    leases: list[Any] = field(default_factory=list)

    def __getitem__(self, algorithm: str) -> Path:
        entry = self.entries[algorithm]
        try:
            self.leases.append(self.store.lease(entry.key))
            return verified_unit(entry)
        except CorruptEntryError as error:
            raise CorruptEntryError(f"the unit of {algorithm!r}: {error}; register_robot does that") from error
        except EntryMissingError:  # a KeyError, which Mapping.get would take for an algorithm that is not built
            raise StaleRobotError(*_lost(algorithm)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def verify(self) -> None:
        """Read every unit that this process has not read yet, and raise ``CorruptEntryError`` if one is damaged."""
        for entry in self.entries.values():
            verified_unit(entry)


def _lost(algorithm: str) -> tuple[str, list[str]]:
    reason = f"the unit of {algorithm!r} is no longer in the store"
    return f"{reason}; register the robot again", [reason]


def verified_unit(entry: Entry) -> Path:
    """Return the compiled file of a unit's entry, once the digests of all its files held."""
    for name in entry.files:
        entry.verified(name)
    return entry.path(target_of(entry.meta["level"]).unit)


def make_record(
    request: RobotRequest, model: Entry, units: Mapping[str, Entry], plan: Plan | None, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the record of a robot; ``plan`` is what its units were built by, ``None`` if it has none."""
    return {
        "schema": SCHEMA,
        "request": request.identity().digest,
        "compiler": plan.compiler.stamp if plan else "",
        "options": request.options.to_json(),
        "level": request.level,
        "plugin_files": list(request.plugin_files),
        "model": model.key,
        "units": {algorithm: entry.key for algorithm, entry in units.items()},
        "inputs": {unit.algorithm: dict(unit.input_key.components) for unit in plan.units} if plan else {},
        "facts": dict(facts),
    }


def recorded_request(record: Mapping[str, Any], store: Store) -> RobotRequest:
    """Return the request that a record was made for, with the description that was kept beside the model.

    Raises
    ------
    EntryMissingError
        The model, and so the description, is no longer in the store.
    CorruptEntryError
        It is damaged.
    """
    kept = store.get(record["model"])
    if kept is None:
        raise EntryMissingError("its description is no longer in the store; register it again")
    source = read_source(kept.verified(DESCRIPTION).read_bytes())
    options, algorithms = BuildOptions.from_json(record["options"]), tuple(record["facts"]["algorithm_list"])
    return RobotRequest(source, options, algorithms, record["level"], None, tuple(record["plugin_files"]))


def load_entry(name: str, store: Store) -> RobotEntry:
    """Load a registered robot by name; needs no compiler and no description.

    Raises
    ------
    RobotNotRegisteredError
        The name is not registered.
    StaleRobotError
        The stored build cannot be used by this process.
    """
    record = store.resolve(name)
    if record is None:
        raise not_registered(name, store)
    if reasons := faults(record):
        raise stale(name, reasons)
    model = store.get(record["model"])
    units = {algorithm: store.get(key) for algorithm, key in record["units"].items()}
    lost = [algorithm for algorithm, entry in units.items() if entry is None]
    reasons = [reason for algorithm in lost for reason in _lost(algorithm)[1]]
    if not target_of(record["level"]).runs_here(record["level"]):
        reasons.append(f"it was built for {record['level']}, which this machine does not run")
    if model is None:
        reasons.append("its model is no longer in the store")
    if model is None or reasons:
        raise stale(name, reasons)
    found = {algorithm: entry for algorithm, entry in units.items() if entry is not None}
    try:
        robot, options = read_model(model), BuildOptions.from_json(record["options"])
    except CorruptEntryError as error:
        raise stale(name, [f"its model is damaged: {error}"]) from error
    except (ArgumentError, KeyError, TypeError, ValueError) as error:
        raise stale(name, [f"its model or its options are of another version ({error})"]) from error
    return RobotEntry(name, robot, options, UnitPaths(store, found), record)


def not_registered(name: str, store: Store) -> RobotNotRegisteredError:
    """Return the error of a name that no robot has, with the names that there are."""
    known = store.names()
    there = f"registered are {', '.join(known[:LISTED])}{', ...' * (len(known) > LISTED)}" if known else "none is"
    return RobotNotRegisteredError(
        name,
        f"no robot {name!r} is registered in {store.root}{nearest(name, known)}; {there} (list_registered() and "
        "'grid-rbd list' show all); register_robot and 'grid-rbd build' register one",
    )


def stale(name: str, reasons: list[str]) -> StaleRobotError:
    """Return the error of a registered robot that cannot be used."""
    return StaleRobotError(f"robot {name!r} cannot be loaded: {'; '.join(reasons)}; register it again", reasons)
