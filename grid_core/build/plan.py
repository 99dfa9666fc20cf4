"""Plans: what a request would build, unit by unit, without generating anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grid_core.build.compilers import Compiler, compiler_for
from grid_core.build.request import RobotRequest
from grid_store import Entry, Key, Store, differences


@dataclass(frozen=True)
class UnitPlan:
    """One algorithm of a plan.

    Attributes
    ----------
    algorithm : str
    input_key : Key
    entry : Entry or None
        The stored unit; ``None`` if it must be built.
    reason : str
        Why it must be built, empty for a hit.
    changed : tuple of str
        The components of the key in which it differs from an earlier build, if that is the reason.
    """

    algorithm: str
    input_key: Key
    entry: Entry | None
    reason: str
    changed: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """``"hit"``; ``"stale"`` for one that was built before from something else; ``"miss"``."""
        if self.entry is not None:
            return "hit"
        return "stale" if self.changed else "miss"


@dataclass(frozen=True)
class Plan:
    """All units of a request, and the compiler that would make the missing ones."""

    request: RobotRequest
    compiler: Compiler
    units: tuple[UnitPlan, ...]

    @property
    def missing(self) -> tuple[UnitPlan, ...]:
        return tuple(unit for unit in self.units if unit.entry is None)

    @property
    def input_key(self) -> str:
        """Digest of the request with its toolchain."""
        return Key({unit.algorithm: unit.input_key.digest for unit in self.units}).digest

    @property
    def content_key(self) -> str | None:
        """Digest of all that is compiled; ``None`` while any of it is not built, since it is not known before."""
        if self.missing:
            return None
        return Key({unit.algorithm: unit.entry.key for unit in self.units if unit.entry}).digest

    def to_json(self) -> dict[str, Any]:
        return {
            "level": self.request.level,
            "options": self.request.options.to_json(),
            "compiler": self.compiler.identity(),
            "input_key": self.input_key,
            "content_key": self.content_key,
            "units": [
                {
                    "algorithm": unit.algorithm,
                    "status": unit.status,
                    "reason": unit.reason,
                    "changed": list(unit.changed),
                    "input_key": unit.input_key.digest,
                    "inputs": dict(unit.input_key.components),
                    "content_key": unit.entry.key if unit.entry else None,
                }
                for unit in self.units
            ],
        }


def make_plan(request: RobotRequest, store: Store, before: Mapping[str, Mapping[str, str]] | None = None) -> Plan:
    """Look every unit of a request up in the store; a damaged one, its digests included, has to be built.

    Parameters
    ----------
    request, store
    before : mapping, optional
        Per algorithm, the components of the input key of an earlier build: what a miss is explained against.

    Raises
    ------
    ToolchainError
        There is no usable compiler.
    """
    compiler = compiler_for(request, store)
    identity = compiler.identity()
    units = (_looked_up(a, request.unit_key(a, identity), store, (before or {}).get(a)) for a in request.units)
    return Plan(request, compiler, tuple(units))


def stored_unit(input_key: Key, store: Store) -> Entry | None:
    """Return the unit that a request led to before, if it is there and whole."""
    action = store.lookup(input_key.digest)
    return store.get(action.content, verify=True) if action else None


def _looked_up(algorithm: str, key: Key, store: Store, before: Mapping[str, str] | None) -> UnitPlan:
    if entry := stored_unit(key, store):
        return UnitPlan(algorithm, key, entry, "")
    if store.lookup(key.digest):
        return UnitPlan(algorithm, key, None, "its files are damaged or no longer in the store")
    if before is None:
        return UnitPlan(algorithm, key, None, "it has not been built before")
    changed = tuple(difference.name for difference in differences(before, key))
    reason = f"{', '.join(changed)} changed" if changed else "its record is no longer in the store"
    return UnitPlan(algorithm, key, None, reason, changed)
