"""What a store holds, and what keeps it there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from grid_rbd.basics import open_store
from grid_rbd.keywords import checked_keywords


@checked_keywords
def cache_stats(cache_dir: str | Path | None = None) -> dict[str, Any]:
    """Return what a store holds; nothing counts as used by that.

    Returns
    -------
    dict
        ``cache_dir``; ``robots``, how many are registered; ``bytes`` of everything; ``areas``, files and bytes by area
        of the store; ``entries``, number, bytes, and compile seconds by kind of entry; ``tiers``, hits, misses, records
        that were refused, failures, and bytes by URL.
    """
    store = open_store(cache_dir)
    areas = store.usage()
    kinds: dict[str, Counter[str]] = {}
    for entry in store.entries():
        kind = kinds.setdefault(str(entry.meta.get("kind", "other")), Counter())
        kind.update(number=1, bytes=entry.size, seconds=entry.meta.get("seconds", 0.0))
    return {
        "cache_dir": str(store.root),
        "robots": len(store.names()),
        "bytes": sum(area.bytes for area in areas.values()),
        "areas": {name: area._asdict() for name, area in areas.items()},
        "entries": {kind: dict(counts) for kind, counts in sorted(kinds.items())},
        "tiers": store.tier_counts(),
    }


@checked_keywords
def cache_roots(cache_dir: str | Path | None = None) -> dict[str, Any]:
    """Return what keeps entries from being collected: registered robots, and manifests of consumers.

    Returns
    -------
    dict
        ``cache_dir``, and ``roots``, a list of ``{"kind", "name", "entries", "bytes"}`` with the entries that each one
        keeps; an entry may have several roots. The name of an artifact is ``CONSUMER/NAME``.
    """
    store = open_store(cache_dir)
    roots = []
    for root in store.roots():
        kept = [entry for key in root.keys if (entry := store.get(key, used=False))]
        size = sum(entry.size for entry in kept)
        name = root.name if root.kind == "name" else root.name.removesuffix(".json")
        roots.append({"kind": root.kind, "name": name, "entries": len(kept), "bytes": size})
    return {"cache_dir": str(store.root), "roots": roots}
