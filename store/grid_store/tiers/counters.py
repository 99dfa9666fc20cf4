"""What tiers were good for, counted in the store that they serve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from grid_store.atomic import decode, encode, replace_file
from grid_store.layout import Layout
from grid_store.locks import build_lock
from grid_store.modes import Modes

FILE = "tiers.json"
COUNTED = ("hits", "misses", "refused", "failed", "bytes_read", "written", "bytes_written")

Counts = Mapping[str, Mapping[str, int]]


def read_counts(layout: Layout) -> dict[str, dict[str, int]]:
    """Return the counts of every tier by URL; nothing if nobody counted, or the file is broken."""
    try:
        return {str(url): {name: int(n) for name, n in c.items()} for url, c in _load(layout).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def add_counts(layout: Layout, modes: Modes, url: str, more: Mapping[str, int]) -> None:
    """Add to the counts of a tier."""
    with build_lock(layout.area("locks") / "tiers.lock", modes):
        counts = read_counts(layout)
        total = Counter(dict.fromkeys(COUNTED, 0) | counts.get(url, {}))
        total.update(more)
        text = encode({**counts, url: {name: total[name] for name in COUNTED}}, "the counts of tiers")
        replace_file(layout.base / FILE, text, layout.area("tmp"))


def _load(layout: Layout) -> dict[str, dict[str, int]]:
    return dict(decode((layout.base / FILE).read_bytes()))
