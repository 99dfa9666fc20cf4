"""What the record of a registered robot holds, and whether one that was found can be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grid_core.build.request import SCHEMA
from grid_store import Store

FIELDS: dict[str, type] = {
    "schema": int,
    "request": str,
    "compiler": str,
    "options": dict,
    "level": str,
    "plugin_files": list,
    "model": str,
    "units": dict,
    "inputs": dict,
    "facts": dict,
}
"""Every field, with the type of its value."""


def faults(record: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a record, nothing for one that this version reads."""
    if not record:
        return ["its record is broken: the file holds no JSON object (the log names it)"]
    if is_foreign(record):
        return [f"its record has schema {record['schema']!r}, this version reads {SCHEMA}"]
    missing = [name for name in FIELDS if name not in record]
    if missing:
        return [f"its record is broken: it lacks {', '.join(missing)}"]
    wrong = [name for name, kind in FIELDS.items() if not isinstance(record[name], kind)]
    return [f"its record is broken: {name} is {record[name]!r:.80}" for name in wrong]


def is_foreign(record: Mapping[str, Any]) -> bool:
    """Return whether another version wrote a record, which may be able to read it."""
    return bool(record.get("schema", SCHEMA) != SCHEMA)


def usable_record(name: str, store: Store) -> dict[str, Any] | None:
    """Return the record of a name, ``None`` if it is not bound or its record is of no use to this version."""
    record = store.resolve(name)
    return None if record is None or faults(record) else record
