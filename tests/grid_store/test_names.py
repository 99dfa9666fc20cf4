"""Names: bound, resolved, replaced in one step, forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grid_store import Key, PublishError, Store, StoreError
from grid_store.layout import Layout
from tests.grid_store.conftest import Produce


def test_a_name_lives(store: Store) -> None:
    assert store.resolve("panda") is None
    store.bind("panda", {"content": "0" * 64, "options": {"dtype": "float32"}})
    assert store.resolve("panda") == {"content": "0" * 64, "options": {"dtype": "float32"}}
    store.bind("panda", {})
    assert store.resolve("panda") == {}
    store.unbind("panda")
    store.unbind("panda")
    assert store.resolve("panda") is None
    assert store.names() == []


@pytest.mark.parametrize("name", ["a/b", "..", ".", "robot é \U0001f916", "50%", "a\0b", "-x", " "])
def test_any_text_is_a_name(store: Store, name: str) -> None:
    store.bind(name, {"n": 1})
    assert store.names() == [name]
    assert store.resolve(name) == {"n": 1}
    assert [path.parent for path in store.root.rglob("*.json")] == [store.root / "v1" / "names"]


@pytest.mark.parametrize("name", ["", "x" * 241, "é" * 50])
def test_names_that_fit_no_file_are_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="1 to 240"):
        store.bind(name, {})
    with pytest.raises(StoreError, match="no lone surrogates"):
        store.bind(f"{name}\ud800", {})


@pytest.mark.parametrize("broken", ["", "{", "[1]", "null", "\udcff", "[" * 100_000])
def test_a_broken_record_is_empty_until_it_is_bound_again(
    store: Store, layout: Layout, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    store.bind("panda", {"old": 1})
    layout.name("panda").chmod(0o600)
    layout.name("panda").write_bytes(broken.encode(errors="surrogateescape"))
    assert store.resolve("panda") == {}
    assert f"'panda' is broken and counts as empty until it is bound again: {layout.name('panda')}" in caplog.text
    assert store.names() == ["panda"]
    store.bind("panda", {"whole": 1})
    assert store.resolve("panda") == {"whole": 1}


def test_a_record_that_json_cannot_hold_leaves_the_old_one(store: Store, leftovers: Callable[[], list[Path]]) -> None:
    store.bind("panda", {"old": 1})
    with pytest.raises(PublishError, match="'panda' must consist of JSON"):
        store.bind("panda", {"new": object()})
    assert store.resolve("panda") == {"old": 1}
    assert leftovers() == []


@pytest.mark.parametrize("consumer", ["planner", "..", ".", "a/b", "größe"])
def test_the_names_of_consumers_are_apart(store: Store, consumer: str) -> None:
    store.bind("arm", {"whose": "robot"})
    store.bind("arm", {"whose": "project"}, consumer=consumer)
    store.bind("leg", {}, consumer=consumer)
    assert store.resolve("arm") == {"whose": "robot"}
    assert store.resolve("arm", consumer=consumer) == {"whose": "project"}
    assert (store.names(), store.names(consumer=consumer)) == (["arm"], ["arm", "leg"])
    assert store.consumers() == [consumer]
    assert store.names(consumer="another") == []
    store.unbind("arm", consumer=consumer)
    assert store.resolve("arm") == {"whose": "robot"}
    assert store.resolve("arm", consumer=consumer) is None
    store.unbind("leg", consumer=consumer)
    assert store.consumers() == []
    places = {path.parent.parent for path in store.root.rglob("*.json")}
    assert places == {store.root / "v1"}


def test_what_a_consumer_names_is_kept(
    store: Store, key: Key, produce: Produce, age: Callable[[str, float], None]
) -> None:
    entry = store.obtain(key, produce)
    store.bind("arm", {"content": entry.key}, consumer="planner")
    age(entry.key, 1e6)
    assert store.gc(execute=True)["entries_removed"] == []
    store.unbind("arm", consumer="planner")
    age(entry.key, 1e6)
    assert store.gc(execute=True)["entries_removed"] == [entry.key]
