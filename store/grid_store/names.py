"""Names: what a person calls an entry. Every digest inside the record of a name keeps that entry from collection.

Each consumer, a project that keeps things of its own in the store, has names of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from grid_store.atomic import decode, encode, replace_file
from grid_store.layout import Layout, name_of
from grid_store.modes import Modes, ensure_directory

_log = logging.getLogger("grid_rbd.store")


class Bound(NamedTuple):
    """A name: one of the store's own, or one of a consumer."""

    name: str
    consumer: str | None = None

    def __str__(self) -> str:
        return self.name if self.consumer is None else f"{self.consumer}/{self.name}"


def bind(layout: Layout, name: str, record: Mapping[str, Any], modes: Modes, consumer: str | None = None) -> None:
    """Make ``name`` mean ``record`` (JSON values), in one step and in place of what it meant before."""
    data = encode(dict(record), f"the record of name {name!r}")
    path = layout.name(name, consumer)
    ensure_directory(path.parent, modes)
    replace_file(path, data, layout.area("tmp"))


def resolve(layout: Layout, name: str, consumer: str | None = None) -> dict[str, Any] | None:
    """Return what ``name`` means, ``None`` when it is not bound; a broken record is empty, and the log says why."""
    path = layout.name(name, consumer)
    try:
        return dict(decode(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError) as error:
        _log.warning(
            "the record of name %r is broken and counts as empty until it is bound again: %s: %s", name, path, error
        )
        return {}


def unbind(layout: Layout, name: str, consumer: str | None = None) -> None:
    """Forget ``name``; its entries stay until they are collected."""
    layout.name(name, consumer).unlink(missing_ok=True)


def bound_names(layout: Layout, consumer: str | None = None) -> list[str]:
    """Return all names, sorted."""
    return sorted(name_of(path.name) for path in layout.names(consumer).glob("*.json"))


def known_consumers(layout: Layout) -> list[str]:
    """Return the consumers that have names, sorted."""
    return sorted({name_of(path.parent.name) for path in layout.area("consumers").glob("*/*.json")})
