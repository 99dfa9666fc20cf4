"""Leaving in tiers what was built before there were any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grid_rbd.basics import open_store
from grid_rbd.keywords import checked_keywords
from grid_rbd.selection import selected


@checked_keywords
def push_robots(
    names: Sequence[str] | None = None,
    cache_dir: str | Path | None = None,
    *,
    artifacts: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Leave registered robots and artifacts in every tier that is written to, signed with the user's key.

    What is built while there are tiers is left there at once; this is for what was built before, or while a tier was
    away. A tier gets what it has not yet. Whoever pushes vouches for all of it, also for what was imported.

    Parameters
    ----------
    names : sequence of str, optional
        Robots. Without them and ``artifacts``, all robots and artifacts.
    cache_dir : path, optional
    artifacts : sequence of str, optional
        Artifacts of consumer projects, as ``CONSUMER/NAME``.

    Returns
    -------
    dict
        ``cache_dir, robots, artifacts`` (names); ``tiers``, a list of ``{"url", "written", "present", "failed",
        "reason"}`` that counts units and artifacts; ``ok``, whether none failed.

    Raises
    ------
    TierSettingsError
        No tier is written to, or the user's keys cannot be read.
    RobotNotRegisteredError, ArtifactNotFoundError
        There is none of that name.
    CorruptEntryError
        A stored file is damaged; ``repair_cache`` mends it.
    """
    store = open_store(cache_dir, strict=True)
    chosen = selected(names, artifacts, store)
    pushed = store.push(chosen)
    return {
        "cache_dir": str(store.root),
        "robots": [bound.name for bound in chosen if bound.consumer is None],
        "artifacts": [str(bound) for bound in chosen if bound.consumer is not None],
        "tiers": [{"url": url, **asdict(counted)} for url, counted in pushed.items()],
        "ok": not any(counted.failed for counted in pushed.values()),
    }
