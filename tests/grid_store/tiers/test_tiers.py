"""Tiers: what one builds and signs, another finds; in order, with back-fill, and never at the price of a build."""

from __future__ import annotations

import functools
import http.server
import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grid_store import Entry, NotInTiersError, Store, TierSettingsError
from grid_store.tiers import TierSettings, patience
from grid_store.tiers.remote import Remote

from .people import CONTENT, REQUEST, Person, Produce, build


def _tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _check(found: Entry | None, built: Entry) -> None:
    assert found is not None
    assert (found.key, found.files, found.meta) == (built.key, built.files, built.meta)
    for name in built.files:
        assert found.verified(name).read_bytes() == built.path(name).read_bytes()


def test_what_one_builds_another_finds(user: Person, tier: TierSettings, built: Entry, never: Produce) -> None:
    store = user.store(replace(tier, write=False))
    _check(store.fetch(REQUEST), built)
    action = store.lookup(REQUEST.digest)
    assert action is not None
    assert (action.content, action.extra) == (built.key, {"algorithm": "crba"})
    assert store.obtain(CONTENT, never).key == built.key, "from now on it is here"
    assert store.verify() == []


def test_a_tier_holds_files_by_digest_and_signed_requests(shared: Path, built: Entry, builder: Person) -> None:
    tree = _tree(shared / "v1")
    assert tree[-1] == f"requests/{REQUEST.digest[:2]}/{REQUEST.digest}.json"
    assert {file.digest for file in built.files.values()} < {path.rpartition("/")[2] for path in tree[:-1]}
    assert len(tree) == len(built.files) + 2
    statement = json.loads((shared / "v1" / tree[-1]).read_text())
    assert statement["key"] == builder.key.public.identity
    assert str(shared) not in (shared / "v1" / tree[-1]).read_text()


def test_content_comes_before_the_record_that_names_it(
    builder: Person, tier: TierSettings, produce: Produce, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    real = Remote._write

    def write(self: Remote, path: str, data: bytes) -> int:
        written.append(path.partition("/")[0])
        return real(self, path, data)

    monkeypatch.setattr(Remote, "_write", write)
    build(builder.store(tier), produce)
    assert written == ["blobs", "blobs", "blobs", "requests"]
    assert not [path for path in _tree(Path(tier.url.removeprefix("file://"))) if ".part" in path]


def test_what_is_there_already_is_not_sent_again(
    builder: Person, tier: TierSettings, built: Entry, never: Produce, shared: Path
) -> None:
    blob = next((shared / "v1" / "blobs").rglob(built.files["robot.so"].digest))
    blob.write_bytes(b"half of ")
    store = builder.store(tier)
    store.record(REQUEST, store.obtain(CONTENT, never).key)
    assert blob.read_bytes() == built.path("robot.so").read_bytes(), "one that was cut is sent again"
    before = blob.stat().st_mtime_ns
    store.record(REQUEST, built.key)
    assert blob.stat().st_mtime_ns == before


def test_tiers_are_asked_in_order_and_filled_from_later_ones(
    user: Person, tier: TierSettings, built: Entry, tmp_path: Path
) -> None:
    near, far = TierSettings((tmp_path / "near").as_uri(), write=True), replace(tier, write=False)
    store = user.store(near, far)
    _check(store.fetch(REQUEST), built)
    assert _tree(tmp_path / "near") == _tree(tmp_path / "shared")
    counts = store.tier_counts()
    assert (counts[near.url]["misses"], counts[near.url]["written"], counts[far.url]["hits"]) == (1, 1, 1)
    assert counts[near.url]["bytes_written"] > built.size
    user.trust(user)
    fresh = Store(tmp_path / "fresh", strict=True, tiers=store._tiers)
    _check(fresh.fetch(REQUEST), built)
    assert fresh.tier_counts() == {
        near.url: {**dict.fromkeys(counts[near.url], 0), "hits": 1, "bytes_read": counts[far.url]["bytes_read"]}
    }


def test_what_is_filled_from_a_later_tier_keeps_the_signature_of_its_builder(
    user: Person, tier: TierSettings, built: Entry, tmp_path: Path, shared: Path
) -> None:
    near = TierSettings((tmp_path / "near").as_uri(), write=True)
    user.store(near, replace(tier, write=False)).fetch(REQUEST)
    name = f"v1/requests/{REQUEST.digest[:2]}/{REQUEST.digest}.json"
    assert (tmp_path / "near" / name).read_bytes() == (shared / name).read_bytes()


def test_what_was_not_verified_is_not_passed_on_as_verified(
    user: Person, tier: TierSettings, built: Entry, tmp_path: Path
) -> None:
    near, open_near = (TierSettings((tmp_path / name).as_uri(), write=True) for name in ("near", "open"))
    store = user.store(near, replace(open_near, verify=False), replace(tier, write=False, verify=False))
    _check(store.fetch(REQUEST), built)
    assert not (tmp_path / "near").exists()
    assert (tmp_path / "open").exists()


def test_what_is_here_under_another_request_is_not_fetched(
    user: Person, tier: TierSettings, built: Entry, tmp_path: Path, produce: Produce
) -> None:
    near = TierSettings((tmp_path / "near").as_uri(), write=True)
    store = user.store(near, replace(tier, write=False))
    mine = store.obtain(CONTENT, produce)
    found = store.fetch(REQUEST)
    assert found is not None
    assert (found.created, found.created == built.created) == (mine.created, False)
    assert store.lookup(REQUEST.digest)
    assert store.tier_counts()[tier.url]["bytes_read"] == 0
    assert not (tmp_path / "near").exists(), "what the statement is about is not here"


def test_what_is_only_read_is_never_written(user: Person, tier: TierSettings, built: Entry, shared: Path) -> None:
    before = _tree(shared)
    store = user.store(replace(tier, write=False))
    store.fetch(REQUEST)
    store.record(REQUEST, built.key)
    assert _tree(shared) == before


def test_a_miss_is_built_and_forbidden_fallback_is_an_error(user: Person, tier: TierSettings) -> None:
    assert user.store(tier).fetch(REQUEST) is None
    with pytest.raises(NotInTiersError, match=r"compiling it here is forbidden: file://.* no record of the request"):
        user.store(tier, fallback=False).fetch(REQUEST)


def test_without_tiers_nothing_is_asked(user: Person) -> None:
    assert user.store().fetch(REQUEST) is None
    assert user.store().tier_counts() == {}


def test_s3(builder: Person, user: Person, s3: dict[str, Any], produce: Produce) -> None:
    tier = TierSettings("s3://robots/grid", write=True, options=s3)
    built = build(builder.store(tier), produce)
    _check(user.store(replace(tier, write=False)).fetch(REQUEST), built)
    counts = user.store(tier).tier_counts()[tier.url]
    assert (counts["hits"], counts["failed"]) == (1, 0)


@pytest.fixture
def website(shared: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(shared))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_http_is_read(user: Person, built: Entry, website: str) -> None:
    _check(user.store(TierSettings(website)).fetch(REQUEST), built)
    with pytest.raises(TierSettingsError, match="nothing can be written by http"):
        TierSettings(website, write=True)


def test_a_tier_that_is_away_is_told_once_and_left_out(
    user: Person, tier: TierSettings, built: Entry, caplog: pytest.LogCaptureFixture
) -> None:
    away = TierSettings("http://127.0.0.1:9", timeout=5.0)
    store = user.store(away, replace(tier, write=False))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            _check(store.fetch(REQUEST), built)
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("tier http://127.0.0.1:9 is left out: ")
    assert "is built here" in said
    caplog.clear()
    user.store(away, replace(tier, write=False), fallback=False).fetch(REQUEST)
    assert "what no other tier has is an error" in caplog.text
    assert store.tier_counts()[away.url]["failed"] == 2, "once in each process"


def test_a_tier_that_hangs_costs_its_timeout_once(
    user: Person, tier: TierSettings, built: Entry, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    slow = TierSettings("memory://slow", timeout=0.2)
    monkeypatch.setattr(patience, "NOTICE", 0.1)
    real = Remote._open
    monkeypatch.setattr(Remote, "_open", lambda self: time.sleep(60) if self.settings == slow else real(self))
    store = user.store(slow, tier)
    began = time.monotonic()
    for _ in range(3):
        _check(store.fetch(REQUEST), built)
    assert time.monotonic() - began < 5.0
    assert "it has not answered for 0.2 s" in caplog.text
    assert caplog.messages[0] == "tier memory://slow has not answered for 0.1 s; it is left out after 0.2 s"


def test_a_tier_that_cannot_be_written_costs_no_build(
    builder: Person, tier: TierSettings, produce: Produce, shared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shared.write_text("a file where a folder should be")
    entry = build(builder.store(tier), produce)
    assert entry.verified("robot.so")
    assert f"tier {tier.url} is left out: " in caplog.text


def test_two_builders_whose_compilers_differ_leave_both_results_whole(
    builder: Person, user: Person, tier: TierSettings, built: Entry, tmp_path: Path, shared: Path
) -> None:
    def other(folder: Path) -> dict[str, Any]:
        (folder / "robot.so").write_bytes(b"made by somebody else")
        return {}

    build(user.store(tier), other)
    builder.trust(user)
    found = Store(tmp_path / "fresh", strict=True, tiers=builder.store(tier)._tiers).fetch(REQUEST)
    assert found is not None
    assert found.verified("robot.so").read_bytes() == b"made by somebody else"
    digests = {built.files["robot.so"].digest, found.files["robot.so"].digest}
    assert digests <= {path.rpartition("/")[2] for path in _tree(shared)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be understood"),
        ('{"tiers": [{"uri": "x"}], "sign_with": null, "fallback": true}', "cannot be understood"),
        ("[" * 100_000, "cannot be understood .it is nested too deeply"),
        ('{"tiers": [{"url": 3}], "sign_with": null, "fallback": true}', "url is 3, expected str"),
        (
            '{"tiers": [{"url": "file:///a", "write": "no"}], "sign_with": null, "fallback": true}',
            "write is 'no', expec",
        ),
        ('{"tiers": [{"url": "file:///a", "options": 3}], "sign_with": null, "fallback": true}', "options is 3, expec"),
        ('{"tiers": [], "sign_with": 3, "fallback": true}', "sign_with is 3, expected str or NoneType"),
        ('{"tiers": [], "sign_with": null, "fallback": "off"}', "fallback is 'off', expected bool"),
        ('{"tiers": [{"url": "no protocol"}], "sign_with": null, "fallback": true}', "has no protocol"),
        ('{"tiers": [{"url": "file://a"}], "sign_with": null, "fallback": true}', "'file://a' is not an absolute path"),
        ('{"tiers": [{"url": "file:a/b"}], "sign_with": null, "fallback": true}', "'file:a/b' is not an absolute path"),
        ('{"tiers": [{"url": "file:///a", "timeout": 0}], "sign_with": null, "fallback": true}', "timeout is 0"),
        (
            '{"tiers": [{"url": "file:///a", "write": true}], "sign_with": null, "fallback": true}',
            "no key to sign with",
        ),
        ('{"tiers": [{"url": "file:///a"}], "sign_with": "nobody", "fallback": true}', "there is no key 'nobody'"),
    ],
)
def test_broken_settings(user: Person, text: str, message: str) -> None:
    from grid_store.tiers import configured_tiers
    from grid_store.tiers.settings import FILE, config_folder

    user.as_me()
    (config_folder() / FILE).write_text(text)
    with pytest.raises(TierSettingsError, match=message):
        Store(user.root, strict=True, tiers=configured_tiers()).fetch(REQUEST)
