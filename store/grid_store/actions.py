"""The actions table: which content an input key led to, so that a request seen before generates nothing."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grid_store.atomic import decode, encode, replace_file
from grid_store.digest import check_digest
from grid_store.key import Key, combine
from grid_store.layout import Layout
from grid_store.modes import Modes, ensure_directory


@dataclass(frozen=True)
class ActionRecord:
    """One request and its outcome.

    Attributes
    ----------
    input, content : str
        Digests of the input key and of the content key.
    components : mapping of str to str
        The components of the input key with their digests.
    extra : dict
        Whatever the recorder added.
    created : float
        Seconds since the epoch.
    """

    input: str
    content: str
    components: Mapping[str, str]
    extra: dict[str, Any]
    created: float


def write_action(layout: Layout, key: Key, content: str, extra: Mapping[str, Any], modes: Modes) -> ActionRecord:
    """Record that the input ``key`` leads to ``content``; a later record for the same input replaces it."""
    record = ActionRecord(key.digest, check_digest(content), dict(key.components), dict(extra), time.time())
    keep_action(layout, record, modes)
    return record


def keep_action(layout: Layout, record: ActionRecord, modes: Modes) -> None:
    """Write a record to its place."""
    path = layout.action(record.input)
    ensure_directory(path.parent, modes)
    replace_file(path, encode_action(record), layout.area("tmp"))


def encode_action(record: ActionRecord) -> bytes:
    """Return the text of a record."""
    return encode(asdict(record), f"the record of request {record.input[:12]}")


def read_action(path: Path) -> ActionRecord | None:
    """Return the record at ``path``, ``None`` when there is none that can be understood."""
    try:
        return decode_action(path.stem, path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None


def actions_to(layout: Layout, contents: Collection[str]) -> Iterator[ActionRecord]:
    """Yield the records of requests that lead to one of some content keys, in the order of their input keys."""
    for path in sorted(layout.area("actions").glob("??/*.json")):
        if (action := read_action(path)) and action.content in contents:
            yield action


def decode_action(key: str, data: bytes) -> ActionRecord | None:
    """Return the record of the input ``key`` from its text, ``None`` when it is none."""
    try:
        record = ActionRecord(**decode(data))
        fits = (key, key) == (record.input, combine(record.components)) and check_digest(record.content)
    except (ValueError, TypeError, AttributeError):
        return None
    return record if fits else None
