"""Which entries may go, decided without a disk."""

from __future__ import annotations

import pytest

from grid_store.policy import MINIMUM_AGE, Candidate, Limits, condemned

DAY = 86400.0


def _go(candidates: list[Candidate], limits: Limits, roots: str = "", leased: str = "") -> list[str]:
    return [candidate.key for candidate, _ in condemned(candidates, roots, leased.__contains__, limits)]


ENTRIES = [Candidate(key, 100, days * DAY, is_object=key in "xy") for key, days in zip("abcxy", (1, 2, 3, 4, 5))]


def test_unused_entries_go_and_objects_stay() -> None:
    assert _go(ENTRIES, Limits()) == ["c", "b", "a"]


def test_roots_and_leases_are_kept() -> None:
    assert _go(ENTRIES, Limits(max_bytes=0, objects_days=0), roots="ax", leased="b") == ["y", "c"]


def test_young_entries_are_kept() -> None:
    young, old = (Candidate(str(age), 1, age, is_object=False) for age in (MINIMUM_AGE - 1, MINIMUM_AGE))
    assert _go([young, old], Limits(max_bytes=0)) == [old.key]


@pytest.mark.parametrize(("days", "gone"), [(6, []), (5, ["y"]), (4.5, ["y"]), (0, ["y", "x"])])
def test_objects_go_by_age(days: float, gone: list[str]) -> None:
    assert [key for key in _go(ENTRIES, Limits(objects_days=days)) if key in "xy"] == gone


@pytest.mark.parametrize(("limit", "gone"), [(500, ""), (499, "y"), (301, "yx"), (300, "yx"), (1, "yxcba")])
def test_a_size_limit_takes_the_least_recently_used(limit: int, gone: str) -> None:
    assert "".join(_go(ENTRIES, Limits(max_bytes=limit))) == gone


def test_what_is_kept_counts_against_the_limit() -> None:
    assert _go(ENTRIES, Limits(max_bytes=300), roots="y", leased="x") == ["c", "b"]


def test_every_reason_says_why() -> None:
    reasons = {c.key: why for c, why in condemned(ENTRIES, "", lambda _: False, Limits(objects_days=5))}
    assert reasons["y"] == "an object not used for 5 days; last used 5.0 days ago"
    assert reasons["a"] == "no name and no consumer mentions it; last used 1.0 days ago"
    over = {c.key: why for c, why in condemned(ENTRIES, "", lambda _: False, Limits(max_bytes=450))}
    assert over == {"y": "500 bytes are over the limit of 450; last used 5.0 days ago"}
