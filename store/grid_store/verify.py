"""Reading everything that a store holds, and setting aside what is damaged."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grid_store.actions import read_action
from grid_store.entry import find_entry, reread, strangers
from grid_store.errors import CorruptEntryError, UnsafeStoreError
from grid_store.layout import Layout
from grid_store.locks import build_lock
from grid_store.modes import Modes, ensure_directory
from grid_store.publish import quarantine
from grid_store.roots import read_root, root_name, root_records


@dataclass(frozen=True)
class Finding:
    """Something damaged.

    Attributes
    ----------
    kind : str
        ``"entry"``, ``"action"``, ``"name"`` or ``"consumer"``.
    item : str
        Key, name, or path below ``consumers/``.
    problem : str
    """

    kind: str
    item: str
    problem: str


def inspect(layout: Layout) -> Iterator[Finding]:
    """Read all entries, actions, names and manifests, and yield what is wrong with them; nothing is changed."""
    for key in layout.stored():
        if problem := entry_problem(layout, key):
            yield Finding("entry", key, problem)
    for path in sorted(layout.area("actions").glob("??/*.json")):
        if read_action(path) is None:
            yield Finding("action", path.stem, f"{path} is not the record of a request")
    for path in sorted(root_records(layout)):
        try:
            read_root(path)
        except CorruptEntryError as error:
            yield Finding(*root_name(layout, path), str(error))


def entry_problem(layout: Layout, key: str) -> str | None:
    """Return what is wrong with the entry of ``key`` after reading every file of it; ``None``: nothing, or no entry."""
    if not layout.object(key).is_symlink() and not layout.object(key).exists():
        return None
    try:
        entry = find_entry(layout, key, used=False)
        if entry is None:
            return f"{layout.object(key)} has no record"
        reread(entry)
    except (CorruptEntryError, UnsafeStoreError) as error:
        return str(error)
    unknown = strangers(entry)
    return f"{entry.directory} holds {', '.join(unknown)}, which its record does not name" if unknown else None


def mend(layout: Layout, modes: Modes) -> list[Finding]:
    """Move what :func:`inspect` finds to quarantine, so that it counts as missing, and return it."""
    found = list(inspect(layout))
    for finding in found:
        if finding.kind == "entry":
            set_entry_aside(layout, finding.item, modes)
        else:
            _set_file_aside(layout, _path(layout, finding))
    return found


def set_entry_aside(layout: Layout, key: str, modes: Modes) -> bool:
    """Move the entry of ``key`` to quarantine if it is damaged, and return whether it was."""
    lock = layout.lock(key)
    ensure_directory(lock.parent, modes)
    with build_lock(lock, modes):
        return entry_problem(layout, key) is not None and quarantine(layout, key) is not None


def _set_file_aside(layout: Layout, path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.rename(layout.area("quarantine") / f"{path.name[:200]}.{os.urandom(4).hex()}")


def _path(layout: Layout, finding: Finding) -> Path:
    if finding.kind == "action":
        return layout.action(finding.item)
    if finding.kind == "name":
        return layout.name(finding.item)
    return layout.area("consumers") / finding.item
