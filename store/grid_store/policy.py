"""Which entries may go: what no root mentions, no living process uses, and nobody touched lately.

Entries are of two kinds. One whose metadata has ``"kind": "object"`` is an intermediate result that no name will ever
mention; it goes by age, when asked. Every other entry goes once no root mentions it. With a size limit, entries that no
root mentions stay as long as everything fits, and the least recently used go first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

MINIMUM_AGE = 3600.0
"""Seconds since the last use before an entry may go, unless told otherwise: a build that just ended binds its name."""
_DAY = 86400.0


@dataclass(frozen=True)
class Limits:
    """What the caller asked for; ``None``: no limit.

    Attributes
    ----------
    objects_days : float or None
        Days since the last use of objects.
    max_bytes : int or None
        Bytes of the whole store.
    minimum_age : float
        Seconds since the last use before anything may go.
    """

    objects_days: float | None = None
    max_bytes: int | None = None
    minimum_age: float = MINIMUM_AGE


@dataclass(frozen=True)
class Candidate:
    """An entry as the collection sees it.

    Attributes
    ----------
    key : str
    size : int
        Bytes on disk.
    age : float
        Seconds since its last use.
    is_object : bool
    pointers : int
        Bytes of the requests that lead to it and go with it.
    """

    key: str
    size: int
    age: float
    is_object: bool
    pointers: int = 0


def condemned(
    candidates: Collection[Candidate],
    roots: Collection[str],
    is_leased: Callable[[str], bool],
    limits: Limits,
    other_bytes: int = 0,
) -> Iterator[tuple[Candidate, str]]:
    """Yield the entries that may go, each with the reason; ``other_bytes`` is what the store holds beside entries."""
    total = other_bytes + sum(candidate.size + candidate.pointers for candidate in candidates)
    for candidate in sorted(candidates, key=lambda candidate: -candidate.age):
        reason = _reason(candidate, limits, total)
        free = candidate.age >= limits.minimum_age and candidate.key not in roots
        if reason and free and not is_leased(candidate.key):
            total -= candidate.size + candidate.pointers
            yield candidate, f"{reason}; last used {candidate.age / _DAY:.1f} days ago"


def _reason(candidate: Candidate, limits: Limits, total: int) -> str | None:
    days = limits.objects_days
    if candidate.is_object and days is not None and candidate.age >= days * _DAY:
        return f"an object not used for {days:g} days"
    if limits.max_bytes is not None:
        return f"{total} bytes are over the limit of {limits.max_bytes}" if total > limits.max_bytes else None
    return None if candidate.is_object else "no name and no consumer mentions it"
