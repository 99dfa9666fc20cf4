"""The actions table: a request seen before leads to its content without generating anything."""

from __future__ import annotations

import json

import pytest

from grid_store import Key, KeyComponentError, Store, differences
from grid_store.layout import Layout


def test_a_request_leads_to_its_content(store: Store, key: Key) -> None:
    request = Key({"description": b"<robot/>", "options": {}})
    store.record(request, key.digest, seconds=1.5, reason="new")
    found = store.lookup(request.digest)
    assert found is not None
    assert (found.input, found.content) == (request.digest, key.digest)
    assert found.extra == {"seconds": 1.5, "reason": "new"}
    changed = Key({"description": b"<robot />", "options": {}})
    assert [d.name for d in differences(found.components, changed)] == ["description"]


def test_two_requests_share_one_content(store: Store, key: Key) -> None:
    for n in range(2):
        store.record(Key({"request": n}), key.digest)
    assert {store.lookup(Key({"request": n}).digest).content for n in range(2)} == {key.digest}  # type: ignore[union-attr]


def test_a_later_record_replaces_the_earlier(store: Store, key: Key) -> None:
    request, other = Key({"request": 1}), Key({"other": 1}).digest
    store.record(request, key.digest)
    store.record(request, other)
    found = store.lookup(request.digest)
    assert found is not None
    assert found.content == other


def test_content_is_a_digest(store: Store) -> None:
    with pytest.raises(KeyComponentError):
        store.record(Key({"request": 1}), "panda")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"input": 1}'])
def test_a_broken_record_counts_as_missing(store: Store, layout: Layout, key: Key, text: str) -> None:
    store.record(key, key.digest)
    path = layout.action(key.digest)
    path.chmod(0o600)
    path.write_text(text)
    assert store.lookup(key.digest) is None


def test_a_record_of_another_request_counts_as_missing(store: Store, layout: Layout, key: Key) -> None:
    store.record(key, key.digest)
    path = layout.action(key.digest)
    record = json.loads(path.read_text())
    path.chmod(0o600)
    path.write_text(json.dumps({**record, "input": "0" * 64}))
    assert store.lookup(key.digest) is None
