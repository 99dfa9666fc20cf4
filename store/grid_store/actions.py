"""The actions table: which content an input key led to, so that a request seen before generates nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid_store.atomic import encode, replace_file
from grid_store.digest import check_digest
from grid_store.key import Key
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


def write_action(layout: Layout, key: Key, content: str, extra: Mapping[str, Any], modes: Modes) -> None:
    """Record that the input ``key`` leads to ``content``; a later record for the same input replaces it."""
    record = {
        "input": key.digest,
        "content": check_digest(content),
        "components": key.components,
        "extra": dict(extra),
        "created": time.time(),
    }
    path = layout.action(key.digest)
    ensure_directory(path.parent, modes)
    replace_file(path, encode(record, f"the record of {key!r}"), layout.area("tmp"))


def read_action(path: Path) -> ActionRecord | None:
    """Return the record at ``path``, ``None`` when there is none that can be understood."""
    try:
        record = ActionRecord(**json.loads(path.read_bytes()))
        return record if path.stem == record.input and check_digest(record.content) else None
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None
