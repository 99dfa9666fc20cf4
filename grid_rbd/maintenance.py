"""Looking after the cache."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from grid_core.build.entry import not_registered
from grid_core.build.options import flag
from grid_core.errors import OptionError
from grid_rbd.basics import checked_name, open_store
from grid_rbd.keywords import checked_keywords
from grid_store.layout import default_root
from grid_store.policy import MINIMUM_AGE

HOUR = 3600.0


def default_cache_dir() -> Path:
    """Return where robots are kept: ``GRID_RBD_CACHE_DIR`` if set, else the user's cache directory for grid-rbd."""
    return default_root()


@checked_keywords
def list_registered(cache_dir: str | Path | None = None) -> list[str]:
    """Return the names of all registered robots."""
    return open_store(cache_dir).names()


def forget_robot(name: str, cache_dir: str | Path | None = None) -> dict[str, Any]:
    """Remove a name; what it was built from stays until :func:`gc_cache` finds that nothing else needs it.

    Handles on the robot go on working.

    Returns
    -------
    dict
        ``name, cache_dir``.

    Raises
    ------
    RobotNotRegisteredError
        The name is not registered.
    StoreUnavailableError
        The store cannot be written.
    """
    name, store = checked_name(name), open_store(cache_dir, strict=True)
    if name not in store.names():
        raise not_registered(name, store)
    store.unbind(name)
    return {"name": name, "cache_dir": str(store.root)}


@checked_keywords
def gc_cache(
    cache_dir: str | Path | None = None,
    *,
    execute: bool = False,
    objects_days: float | None = None,
    max_bytes: int | None = None,
    minimum_hours: float = MINIMUM_AGE / HOUR,
) -> dict[str, Any]:
    """Find, and with ``execute=True`` delete, what no registered robot, consumer or running process needs.

    Parameters
    ----------
    cache_dir : path, optional
    execute : bool
        Delete; the default only reports.
    objects_days : float, optional
        Objects, such as launch profiles, go after this many days without use; by default they stay.
    max_bytes : int, optional
        Keep what nobody needs while the whole store fits into this size; what was used least recently goes first. By
        default all of it goes.
    minimum_hours : float
        Nothing goes that was used within this time.

    Returns
    -------
    dict
        ``cache_dir, executed, entries_kept, entries_removed, entries_bytes, pointers_removed, staging_removed,
        objects_removed, objects_bytes, reasons``; sizes in bytes.
    """
    return open_store(cache_dir).gc(
        execute=flag(execute, "execute"),
        objects_days=None if objects_days is None else _amount(objects_days, "objects_days", "days"),
        max_bytes=None if max_bytes is None else int(_amount(max_bytes, "max_bytes", "bytes")),
        minimum_age=_amount(minimum_hours, "minimum_hours", "hours") * HOUR,
    )


def _amount(value: Any, argument: str, unit: str) -> float:
    try:
        amount = float(value)
    except (TypeError, ValueError):
        amount = math.nan
    if not 0.0 <= amount < math.inf:
        raise OptionError(f"{argument} is {value!r:.80}, expected a number of {unit} of at least 0")
    return amount
