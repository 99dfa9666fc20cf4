"""What was built before there were tiers: it is pushed, and what tiers have is known without copying it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grid_store import Bound, CorruptEntryError, Entry, Key, Store, StoreError, TierSettingsError, TierUnavailableError
from grid_store.tiers import Pushed, TierSettings
from grid_store.tiers.remote import Remote

from .people import CONTENT, REQUEST, Person, Produce, build

NAME = Bound("arm")
OTHER = Key({"request": "leg"})


@pytest.fixture
def kept(builder: Person, produce: Produce) -> Entry:
    """What the builder has under a name, from a time without tiers."""
    store = builder.store()
    entry = build(store, produce)
    store.bind(NAME.name, {"units": {"crba": entry.key}})
    return entry


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was written to tiers, in order."""
    found: list[str] = []
    real = Remote._write

    def write(self: Remote, path: str, data: bytes) -> int:
        found.append(path.partition("/")[0])
        return real(self, path, data)

    monkeypatch.setattr(Remote, "_write", write)
    return found


def test_what_was_built_before_is_pushed_and_found(
    builder: Person, user: Person, tier: TierSettings, kept: Entry, calls: list[str]
) -> None:
    assert builder.store(tier).push([NAME]) == {tier.url: Pushed(written=1)}
    assert calls == ["blobs"] * 3 + ["requests"], "content before the record that names it"
    found = user.store(replace(tier, write=False)).fetch(REQUEST)
    assert found is not None
    assert (found.key, found.files) == (kept.key, kept.files)


def test_what_a_tier_has_is_not_sent_again(
    builder: Person, tier: TierSettings, kept: Entry, calls: list[str], shared: Path
) -> None:
    builder.store(tier).push([NAME])
    calls.clear()
    assert builder.store(tier).push([NAME]) == {tier.url: Pushed(present=1)}
    assert calls == []
    next((shared / "v1" / "blobs").rglob(kept.files["robot.so"].digest)).unlink()
    assert builder.store(tier).push([NAME]) == {tier.url: Pushed(written=1)}
    assert calls == ["blobs"], "what was lost there comes back"


def test_what_others_left_stays(builder: Person, user: Person, tier: TierSettings, kept: Entry) -> None:
    def other(folder: Path) -> dict[str, Any]:
        (folder / "robot.so").write_bytes(b"made by somebody else")
        return {}

    build(user.store(tier), other)
    builder.trust(user)
    assert builder.store(tier).push([NAME]) == {tier.url: Pushed(present=1)}
    store = Store(builder.root.parent / "fresh", strict=True, tiers=builder.store(tier)._tiers)
    found = store.fetch(REQUEST)
    assert found is not None
    assert found.verified("robot.so").read_bytes() == b"made by somebody else"


def test_what_is_not_believed_is_replaced(
    builder: Person, user: Person, tier: TierSettings, kept: Entry, produce: Produce
) -> None:
    build(user.store(tier), produce)
    assert builder.store(tier).push([NAME]) == {tier.url: Pushed(written=1)}, "the builder does not trust the user"
    assert builder.store(tier).offers([REQUEST]) == {REQUEST.digest: tier.url}


def test_a_tier_that_is_away_is_told(
    builder: Person, tier: TierSettings, kept: Entry, shared: Path, tmp_path: Path
) -> None:
    shared.write_text("a file where a folder should be")
    near = TierSettings((tmp_path / "near").as_uri(), write=True)
    pushed = builder.store(tier, near).push([NAME])
    assert pushed[near.url] == Pushed(written=1)
    assert (pushed[tier.url].failed, "NotADirectoryError" in pushed[tier.url].reason) == (1, True)


def test_artifacts_of_consumers_are_pushed(builder: Person, tier: TierSettings, kept: Entry, produce: Produce) -> None:
    store = builder.store(tier)
    store.bind("arm", {"content": kept.key}, consumer="planner")
    assert store.push([Bound("arm", "planner")]) == {tier.url: Pushed(written=1)}


def test_what_cannot_be_pushed(builder: Person, tier: TierSettings, kept: Entry) -> None:
    for store in (builder.store(), builder.store(replace(tier, write=False))):
        with pytest.raises(TierSettingsError, match="no tier is written to; 'grid-rbd tiers add URL --write"):
            store.push([NAME])
    with pytest.raises(StoreError, match="nothing is bound to 'planner/leg'"):
        builder.store(tier).push([Bound("leg", "planner")])
    kept.path("robot.so").chmod(0o600)
    kept.path("robot.so").write_bytes(b"CONTENT of the library")
    with pytest.raises(CorruptEntryError, match="is not the file that was stored"):
        builder.store(tier).push([NAME])


def test_offers_say_what_would_be_fetched_and_write_nothing(
    builder: Person, user: Person, tier: TierSettings, built: Entry, tmp_path: Path
) -> None:
    empty = TierSettings((tmp_path / "empty").as_uri(), write=True)
    store = user.store(empty, replace(tier, write=False))
    assert store.offers([REQUEST, OTHER]) == {REQUEST.digest: tier.url}
    assert not store.root.exists(), "neither entries nor counts"
    assert not (tmp_path / "empty").exists()
    assert builder.store().offers([REQUEST]) == {}


def test_what_would_be_refused_is_no_offer(
    builder: Person, tier: TierSettings, built: Entry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = Person(tmp_path / "stranger", builder._patch)
    assert stranger.store(tier).offers([REQUEST]) == {}
    assert "which is not trusted" in caplog.text


def test_a_tier_that_hangs_costs_its_timeout_once(
    user: Person, tier: TierSettings, built: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def late(self: Remote, operation: Callable[..., Any]) -> Any:
        if self.settings.url != slow.url:
            return real(self, operation)
        asked.append(self.settings.url)
        raise TierUnavailableError("it has not answered for 0.2 s")

    slow, real = TierSettings("memory://slow", timeout=0.2), Remote._within_time
    monkeypatch.setattr(Remote, "_within_time", late)
    store = user.store(slow, replace(tier, write=False))
    requests = [Key({"request": n}) for n in range(40)]
    assert store.offers([*requests, REQUEST]) == {REQUEST.digest: tier.url}
    assert len(asked) <= 8, "those that were asked at the same time"


def test_contents_that_nobody_asked_for_are_not_pushed(builder: Person, tier: TierSettings, kept: Entry) -> None:
    store = builder.store(tier)
    store.bind("leg", {"units": {}})
    assert store.push([Bound("leg")]) == {tier.url: Pushed()}
    assert kept.key == CONTENT.digest
