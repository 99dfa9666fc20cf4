"""Roots of the garbage collection: the digests that the records of names and the manifests of consumers mention.

A record may hold digests of content keys or of input keys, at any depth; whatever looks like one counts. An entry kept
too long costs only space, so when a record cannot be read, nothing is collected at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grid_store.actions import read_action
from grid_store.digest import is_digest
from grid_store.errors import CorruptEntryError
from grid_store.layout import Layout


def root_keys(layout: Layout) -> set[str]:
    """Return the content keys that must be kept, together with the other digests mentioned.

    Raises
    ------
    CorruptEntryError
        A record or a manifest cannot be understood.
    """
    mentioned = {digest for path in _records(layout) for digest in _digests(_load(path))}
    actions = (read_action(layout.action(digest)) for digest in mentioned)
    return mentioned | {action.content for action in actions if action}


def _records(layout: Layout) -> Iterator[Path]:
    yield from layout.area("names").glob("*.json")
    yield from layout.area("consumers").rglob("*.json")


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise CorruptEntryError(
            f"{path} is broken ({error}), so nothing is collected: what it keeps is unknown; write it again (a name: "
            "register it again) or remove the file, then collect again"
        ) from error


def _digests(value: Any) -> Iterator[str]:
    if isinstance(value, str) and is_digest(value):
        yield value
    elif isinstance(value, dict):
        for item in (*value, *value.values()):
            yield from _digests(item)
    elif isinstance(value, list):
        for item in value:
            yield from _digests(item)
