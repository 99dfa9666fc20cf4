"""Garbage collection: survey the store, let the policy decide, and remove without breaking anyone who reads."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from grid_store.actions import ActionRecord, read_action
from grid_store.atomic import decode
from grid_store.layout import RECORD, Layout
from grid_store.lease import is_leased, unleased
from grid_store.locks import build_lock
from grid_store.modes import Modes
from grid_store.policy import Candidate, Limits, condemned
from grid_store.roots import root_keys
from grid_store.size import usage_below
from grid_store.staging import Trash, remove_files, sweep

_COUNTED = ("names", "consumers", "tmp", "quarantine")
"""What counts against a size limit beside entries and the requests that lead to them."""
_LEFTOVER_AGE = 2 * 86400.0
_QUARANTINE_AGE = 7 * 86400.0


@dataclass
class Report:
    """What went, or would go. Sizes are bytes; ``reasons`` has a line for every removed entry and object, by key."""

    cache_dir: str
    executed: bool
    entries_kept: int = 0
    entries_removed: list[str] = field(default_factory=list)
    entries_bytes: int = 0
    pointers_removed: int = 0
    staging_removed: int = 0
    objects_removed: int = 0
    objects_bytes: int = 0
    reasons: dict[str, str] = field(default_factory=dict)

    def add_all(self, removed: Iterable[tuple[Candidate, str]]) -> None:
        """Count removed entries and objects, each with the reason."""
        for candidate, reason in removed:
            self._add(candidate, reason)

    def _add(self, candidate: Candidate, reason: str) -> None:
        self.reasons[candidate.key] = reason
        if candidate.is_object:
            self.objects_removed += 1
            self.objects_bytes += candidate.size
        else:
            self.entries_removed.append(candidate.key)
            self.entries_bytes += candidate.size


class _Pointer(NamedTuple):
    """A file of the actions table, its size, and the request that it holds; ``None`` if it is broken."""

    path: Path
    size: int
    action: ActionRecord | None


def preview(layout: Layout, limits: Limits) -> dict[str, Any]:
    """Return the report of a collection without removing anything."""
    return asdict(_collect(layout, limits, None))


def collect(layout: Layout, limits: Limits, modes: Modes) -> dict[str, Any]:
    """Remove garbage and return the report; one collection runs at a time.

    Raises
    ------
    CorruptEntryError
        The record of a root cannot be understood, so nothing was removed.
    """
    with build_lock(layout.area("locks") / "gc.lock", modes):
        return asdict(_collect(layout, limits, modes))


def _collect(layout: Layout, limits: Limits, modes: Modes | None) -> Report:
    report = Report(str(layout.root), executed=modes is not None)
    report.staging_removed = _drop_leftovers(layout, report)
    pointers, roots = _pointers(layout), root_keys(layout)
    candidates = _survey(layout, pointers)
    others = sum(usage_below(layout.area(name)).bytes for name in _COUNTED)
    going = condemned(candidates, roots, lambda key: is_leased(layout, key), limits, others)
    if modes is None:
        report.add_all(going)
    else:
        with Trash(layout) as trash:
            report.add_all(each for each in going if _remove(layout, each[0].key, modes, limits.minimum_age, trash))
    report.entries_kept = sum(not candidate.is_object for candidate in candidates) - len(report.entries_removed)
    report.pointers_removed = _drop_pointers(layout, pointers, report)
    return report


def _pointers(layout: Layout) -> list[_Pointer]:
    paths = layout.area("actions").glob("??/*.json")
    return [_Pointer(path, path.stat().st_size, read_action(path)) for path in paths]


def _survey(layout: Layout, pointers: Iterable[_Pointer]) -> list[Candidate]:
    leading: Counter[str] = Counter()
    for pointer in pointers:
        if pointer.action:
            leading[pointer.action.content] += pointer.size
    found = (_candidate(layout.object(key), leading[key]) for key in layout.stored())
    return [candidate for candidate in found if candidate]


def _candidate(directory: Path, pointers: int) -> Candidate | None:
    with contextlib.suppress(FileNotFoundError):
        size, is_object = usage_below(directory).bytes, _is_object(directory / RECORD)
        return Candidate(directory.name, size, _age(directory), is_object, pointers)
    return None


def _age(directory: Path) -> float:
    """Return the seconds since the last use; 0 for a time in the future, which a clock that was set back leaves."""
    record = directory / RECORD
    return max(0.0, time.time() - (record if record.exists() else directory).stat().st_mtime)


def _is_object(record: Path) -> bool:
    try:
        return bool(decode(record.read_bytes())["meta"].get("kind") == "object")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _remove(layout: Layout, key: str, modes: Modes, minimum_age: float, trash: Trash) -> bool:
    """Remove an entry unless somebody began to use it since the survey; return whether it is gone."""
    entry = layout.object(key)
    with unleased(layout, key, modes) as alone, contextlib.suppress(FileNotFoundError):  # a build just put it aside
        if not alone or _age(entry) < minimum_age:
            return False
        trash.take(entry)
        layout.lease(key).unlink(missing_ok=True)
        return True
    return False


def _drop_pointers(layout: Layout, pointers: Iterable[_Pointer], report: Report) -> int:
    stored = set(layout.stored()) - report.reasons.keys()
    dangling = [pointer.path for pointer in pointers if not pointer.action or pointer.action.content not in stored]
    if report.executed:
        remove_files(dangling)
    return len(dangling)


def _drop_leftovers(layout: Layout, report: Report) -> int:
    """Drop what dead builds left, files that never reached their place, and what has long been in quarantine."""
    files = [path for path in layout.area("tmp").glob("file.*") if _is_older(path, _LEFTOVER_AGE)]
    for path in files if report.executed else ():
        path.unlink(missing_ok=True)
    judged = [path for path in layout.area("quarantine").glob("*") if _is_older(path, _QUARANTINE_AGE)]
    for path in judged if report.executed else ():
        shutil.rmtree(path, ignore_errors=True)
    return len(files) + len(judged) + sweep(layout, "*", execute=report.executed)


def _is_older(path: Path, age: float) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return time.time() - path.lstat().st_ctime > age
    return False
