"""Verifying and repairing a store: what is damaged is set aside, and the robots that need it are built again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from grid_consumers import record as record_of_artifact
from grid_consumers.loading import described
from grid_core.build import build, make_plan
from grid_core.build.entry import make_record, recorded_request
from grid_core.build.record import faults, is_foreign
from grid_core.errors import GridError
from grid_rbd.basics import open_store
from grid_rbd.keywords import checked_keywords
from grid_rbd.progress import shown_progress
from grid_store import CorruptEntryError, Entry, EntryMissingError, Finding, Store


@dataclass(frozen=True)
class Outcome:
    """What became of a robot that had lost something.

    Attributes
    ----------
    name : str
    outcome : str
        ``"rebuilt"``; ``"forgotten"`` if its description was lost; ``"failed"`` if it cannot be built now.
    reason : str
    """

    name: str
    outcome: str
    reason: str


@checked_keywords
def verify_cache(cache_dir: str | Path | None = None) -> dict[str, Any]:
    """Read all that a store holds and compare it with its digests; nothing is changed.

    Returns
    -------
    dict
        ``cache_dir``; ``entries`` and ``bytes`` that were read; ``damaged``, a list of ``{"kind", "item", "problem"}``;
        ``robots``, what registered robots have lost, by name; ``artifacts``, what artifacts of consumers have lost, by
        ``CONSUMER/NAME``; ``ok``.

    Raises
    ------
    StoreUnavailableError
        The store cannot be read.
    """
    store = open_store(cache_dir, strict=True)
    damaged = store.verify()
    whole, robots, artifacts = list(store.entries()), _broken_robots(store), _broken_artifacts(store)
    return {
        "cache_dir": str(store.root),
        "entries": len(whole) + sum(finding.kind == "entry" for finding in damaged),
        "bytes": sum(entry.size for entry in whole),
        "damaged": [asdict(finding) for finding in damaged],
        "robots": robots,
        "artifacts": {_path(artifact): artifact["stale_reasons"] for artifact in artifacts},
        "ok": not damaged and not robots and not artifacts,
    }


@checked_keywords
def repair_cache(cache_dir: str | Path | None = None) -> dict[str, Any]:
    """Move what :func:`verify_cache` finds to quarantine, and build the robots again that need it.

    A robot is built from the description that is kept with it. If that is lost too, or its record, its name is
    forgotten. So are artifacts of consumers that lost their files or their record: their projects build them again.
    What another version wrote stays.

    Returns
    -------
    dict
        ``cache_dir``; ``damaged`` as in :func:`verify_cache`; ``robots``, a list of ``{"name", "outcome", "reason"}``
        with the outcomes ``"rebuilt"``, ``"forgotten"`` and ``"failed"``; ``artifacts``, those that were forgotten, as
        ``CONSUMER/NAME``; ``artifacts_left``, what is wrong with those of another version; ``ok``, whether none failed
        or is left.

    Raises
    ------
    StoreUnavailableError
        The store cannot be written.
    """
    store = open_store(cache_dir, strict=True)
    damaged = store.repair()
    outcomes = [*map(_forgotten, _names(damaged)), *(_repaired(name, store) for name in _broken_robots(store))]
    broken = _broken_artifacts(store)
    left = [artifact for artifact in broken if _is_foreign(artifact, store)]
    forgotten = [artifact for artifact in broken if artifact not in left]
    for artifact in forgotten:
        store.unbind(artifact["name"], consumer=artifact["consumer"])
    return {
        "cache_dir": str(store.root),
        "damaged": [asdict(finding) for finding in damaged],
        "robots": [asdict(outcome) for outcome in outcomes],
        "artifacts": [_path(artifact) for artifact in forgotten],
        "artifacts_left": {_path(artifact): artifact["stale_reasons"] for artifact in left},
        "ok": not left and all(outcome.outcome != "failed" for outcome in outcomes),
    }


def _names(damaged: list[Finding]) -> list[Finding]:
    return [finding for finding in damaged if finding.kind == "name"]


def _forgotten(finding: Finding) -> Outcome:
    return Outcome(finding.item, "forgotten", finding.problem)


def _broken_robots(store: Store) -> dict[str, list[str]]:
    found = {name: _losses(name, store) for name in store.names()}
    return {name: losses for name, losses in found.items() if losses}


def _broken_artifacts(store: Store) -> list[dict[str, Any]]:
    """Return the facts of artifacts that cannot be loaded."""
    found = (artifact for consumer in store.consumers() for artifact in described(consumer, store))
    return [artifact for artifact in found if "stale_reasons" in artifact]


def _is_foreign(artifact: Mapping[str, Any], store: Store) -> bool:
    return record_of_artifact.is_foreign(store.resolve(artifact["name"], consumer=artifact["consumer"]) or {})


def _path(artifact: Mapping[str, Any]) -> str:
    return f"{artifact['consumer']}/{artifact['name']}"


def _losses(name: str, store: Store) -> list[str]:
    """Return what a robot has lost; that another machine was meant is no loss."""
    record = store.resolve(name) or {}
    if reasons := faults(record):
        return reasons
    parts = {"its model": record["model"], **{f"the unit of {a!r}": key for a, key in record["units"].items()}}
    return [f"{part} is no longer in the store" for part, key in parts.items() if store.get(key, used=False) is None]


def _repaired(name: str, store: Store) -> Outcome:
    """Build a robot again from its record, or forget its name."""
    reason, record = "; ".join(_losses(name, store)), store.resolve(name) or {}
    if is_foreign(record):
        return Outcome(name, "failed", f"{reason}; register it again")
    if faults(record):
        store.unbind(name)
        return Outcome(name, "forgotten", f"{reason}; register it again")
    try:
        _rebuild(name, record, store)
    except (EntryMissingError, CorruptEntryError):
        store.unbind(name)
        return Outcome(name, "forgotten", f"{reason}, and its description was kept there; register it again")
    except GridError as error:
        return Outcome(name, "failed", f"{reason}, and it cannot be built: {error}")
    left = _losses(name, store)
    return Outcome(name, "failed", "; ".join(left)) if left else Outcome(name, "rebuilt", reason)


def _rebuild(name: str, record: Mapping[str, Any], store: Store) -> None:
    """Build the units that a record names. Products that were built on demand are left to the next demand."""
    request, kept = recorded_request(record, store), store.get(record["model"])
    assert kept is not None
    request = replace(request, algorithms=tuple(a for a in record["units"] if a in request.catalogue.algorithms))
    plan = make_plan(request, store, record["inputs"])
    with shown_progress(len(plan.missing), name) as progress:
        units: dict[str, Entry] = build(plan, store, progress=progress)
    store.bind(name, {**make_record(request, kept, units, plan, record["facts"]), "request": record["request"]})
