"""Roots of the garbage collection: the digests that the records of names and the manifests of consumers mention.

A record may hold digests of content keys or of input keys, at any depth; whatever looks like one counts. An entry kept
too long costs only space, so when a record cannot be read, nothing is collected at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid_store.actions import read_action
from grid_store.atomic import decode
from grid_store.digest import is_digest
from grid_store.errors import CorruptEntryError
from grid_store.layout import Layout, name_of


@dataclass(frozen=True)
class Root:
    """Something that keeps entries.

    Attributes
    ----------
    kind : str
        ``"name"`` or ``"consumer"``.
    name : str
        The name, or the path of a manifest below ``consumers/``.
    keys : frozenset of str
        The content keys that it keeps, and the other digests that it mentions.
    """

    kind: str
    name: str
    keys: frozenset[str]


def root_keys(layout: Layout) -> set[str]:
    """Return the content keys that must be kept, together with the other digests mentioned.

    Raises
    ------
    CorruptEntryError
        A record or a manifest cannot be understood.
    """
    try:
        return {key for root in roots(layout) for key in root.keys}
    except CorruptEntryError as error:
        raise CorruptEntryError(f"nothing is collected, since what a root keeps is unknown: {error}") from error


def roots(layout: Layout) -> Iterator[Root]:
    """Yield all roots; raises as :func:`root_keys`."""
    for path in root_records(layout):
        yield Root(*root_name(layout, path), kept_by(layout, read_root(path)))


def kept_by(layout: Layout, record: Any) -> frozenset[str]:
    """Return the content keys that a record keeps, and the other digests that it mentions."""
    mentioned = set(_digests(record))
    actions = (read_action(layout.action(digest)) for digest in mentioned)
    return frozenset(mentioned | {action.content for action in actions if action})


def root_name(layout: Layout, path: Path) -> tuple[str, str]:
    """Return kind and name of the root that lies at ``path``."""
    if path.parent == layout.area("names"):
        return "name", name_of(path.name)
    return "consumer", path.relative_to(layout.area("consumers")).as_posix()


def root_records(layout: Layout) -> Iterator[Path]:
    """Yield the files that are roots: the records of names and the manifests of consumers."""
    yield from layout.area("names").glob("*.json")
    yield from layout.area("consumers").rglob("*.json")


def read_root(path: Path) -> dict[str, Any] | None:
    """Return the content of a root, ``None`` if it has vanished.

    Raises
    ------
    CorruptEntryError
        It is no JSON object.
    """
    try:
        return dict(decode(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise CorruptEntryError(
            f"{path} is broken ({error}); write it again (a name: register it again) or remove the file"
        ) from error


def _digests(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str) and is_digest(item):
            yield item
        elif isinstance(item, dict):
            left.extend((*item, *item.values()))
        elif isinstance(item, list):
            left.extend(item)
