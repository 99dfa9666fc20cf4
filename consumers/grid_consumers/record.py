"""The record of an artifact in its consumer's manifest."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from grid_consumers.recipe import Recipe
from grid_store import Entry, Key, Store, differences

SCHEMA = 1
"""Raised when keys or records of artifacts change their meaning."""

FIELDS: dict[str, type] = {
    "schema": int,
    "content": str,
    "input": str,
    "components": dict,
    "files": dict,
    "artifact": str,
    "level": str,
    "level_identity": str,
    "dtype": str,
    "robot": dict,
    "compiler": dict,
    "created": float,
}
"""Every field, with the type of its value."""


def make_record(entry: Entry, input_key: Key, files: Mapping[str, str], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of an artifact that was built from ``files``, the project's own by label."""
    return {
        "schema": SCHEMA,
        "content": entry.key,
        "input": input_key.digest,
        "components": dict(input_key.components),
        "files": dict(files),
        "created": time.time(),
        **facts,
    }


def kept_record(record: dict[str, Any], recipe: Recipe, store: Store) -> dict[str, Any]:
    """Let an artifact's name mean a record and return it; one that says the same stays, and nothing is written."""
    before = store.resolve(recipe.name, consumer=recipe.consumer)
    if before and {**before, "created": record["created"]} == record:
        return before
    store.bind(recipe.name, record, consumer=recipe.consumer)
    return record


def faults(record: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a record, nothing for one that this version reads."""
    if not record:
        return ["its record is broken: the file holds no JSON object (the log names it)"]
    if is_foreign(record):
        return [f"its record has schema {record['schema']!r}, this version reads {SCHEMA}"]
    wrong = [name for name, kind in FIELDS.items() if not isinstance(record.get(name), kind)]
    return [f"its record is broken: {name} is {record.get(name)!r:.80}" for name in wrong]


def is_foreign(record: Mapping[str, Any]) -> bool:
    """Return whether another version wrote a record, which may be able to read it."""
    return bool(record.get("schema", SCHEMA) != SCHEMA)


def usable_record(consumer: str, name: str, store: Store) -> dict[str, Any] | None:
    """Return the record of an artifact, ``None`` if there is none or it is of no use to this version."""
    record = store.resolve(name, consumer=consumer)
    return None if record is None or faults(record) else record


def changes(record: Mapping[str, Any], input_key: Key, files: Mapping[str, str] | None) -> list[str]:
    """Return how a request differs from the recorded one; ``files`` is ``None`` while it is not known what is read."""
    requested = [f"{difference.name} changed" for difference in differences(record["components"], input_key)]
    if files is None:
        return requested
    before: Mapping[str, str] = record["files"]
    appeared = [f"{label} is new" for label in files if label not in before]
    gone = [f"{label} is no longer included" for label in before if label not in files]
    edited = [f"{label} changed" for label in files if before.get(label, files[label]) != files[label]]
    return [*requested, *edited, *appeared, *gone]
