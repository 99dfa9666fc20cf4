"""Which entries may go: what no root mentions, no living process uses, and nobody touched lately.

Entries are of two kinds. One whose metadata has ``"kind": "object"`` is an intermediate result that no name will ever
mention; it goes by age, when asked. Every other entry goes once no root mentions it. With a size limit, entries that no
root mentions stay as long as everything fits, and the least recently used go first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

MINIMUM_AGE = 3600.0
"""Seconds since the last use before an entry may go: a build that just ended has not bound its name yet."""
_DAY = 86400.0


@dataclass(frozen=True)
class Limits:
    """What the caller asked for: days since the last use of objects, bytes of the whole store; ``None``: no limit."""

    objects_days: float | None = None
    max_bytes: int | None = None


@dataclass(frozen=True)
class Candidate:
    """An entry as the collection sees it: bytes on disk, seconds since its last use, and its kind."""

    key: str
    size: int
    age: float
    is_object: bool


def condemned(
    candidates: Collection[Candidate], roots: Collection[str], is_leased: Callable[[str], bool], limits: Limits
) -> Iterator[tuple[Candidate, str]]:
    """Yield the entries that may go, each with the reason."""
    total = sum(candidate.size for candidate in candidates)
    for candidate in sorted(candidates, key=lambda candidate: -candidate.age):
        reason = _reason(candidate, limits, total)
        if reason and _is_free(candidate, roots) and not is_leased(candidate.key):
            total -= candidate.size
            yield candidate, f"{reason}; last used {candidate.age / _DAY:.1f} days ago"


def _is_free(candidate: Candidate, roots: Collection[str]) -> bool:
    return candidate.age >= MINIMUM_AGE and candidate.key not in roots


def _reason(candidate: Candidate, limits: Limits, total: int) -> str | None:
    days = limits.objects_days
    if candidate.is_object and days is not None and candidate.age >= days * _DAY:
        return f"an object not used for {days:g} days"
    if limits.max_bytes is not None:
        return f"{total} bytes are over the limit of {limits.max_bytes}" if total > limits.max_bytes else None
    return None if candidate.is_object else "no name and no consumer mentions it"
