"""Keys: named components, each with its own digest, so that two keys can be compared by name.

The encoding is fixed: a component is JSON with sorted members, ASCII only and no spaces, hashed with SHA-256; bytes and
files stand in it as the digest of their content. The digest of a key covers the component digests in the order of their
names, so the order in which a caller lists them does not matter. A change of this encoding must change ``_HEADER``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from grid_store.digest import bytes_digest, file_digest
from grid_store.errors import KeyComponentError

_HEADER = "grid-store key 1\n"
_NAME = re.compile(r"[A-Za-z0-9_.:/@+-]+")
_CONTENT = "\0sha256"
"""Member that stands for bytes or a file; no member name of a caller may start with a null character."""


class Difference(NamedTuple):
    """One component that two keys do not share; a side that lacks it has ``None``."""

    name: str
    left: str | None
    right: str | None


class Key:
    """An identity made of named components.

    Parameters
    ----------
    components : mapping of str to object
        Values are ``None``, bool, int, finite float, str, bytes, a path (hashed by content: the same digest as its
        bytes), or a list, tuple or mapping of these.

    Attributes
    ----------
    digest : str
        SHA-256 of the whole key, 64 hexadecimal digits.
    components : dict of str to str
        Digest of every component, in the caller's order.

    Raises
    ------
    KeyComponentError
        No component, a bad component name, or a value without a stable encoding.
    """

    __slots__ = ("_files", "components", "digest")

    def __init__(self, components: Mapping[str, Any]) -> None:
        self._files: dict[Path, str] = {}
        self.components = {_check_name(name): self._component(name, value) for name, value in components.items()}
        self.digest = combine(self.components)

    def changed_files(self) -> list[Path]:
        """Return the files among the components whose content is no longer what was hashed."""
        return [path for path, digest in self._files.items() if _digest_or_none(path) != digest]

    def _component(self, name: str, value: Any) -> str:
        try:
            return bytes_digest(_canonical_json(_plain(value, self._content_of)))
        except (TypeError, ValueError) as error:
            raise KeyComponentError(f"key component {name!r}: {error}") from error

    def _content_of(self, path: Path) -> str:
        self._files[path] = file_digest(path)
        return self._files[path]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Key({self.digest[:12]}: {', '.join(self.components)})"


def combine(components: Mapping[str, str]) -> str:
    """Return the digest of a key from the digests of its components.

    Raises
    ------
    KeyComponentError
        There is no component.
    """
    if not components:
        raise KeyComponentError("a key needs at least one named component")
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(components.items()))
    return bytes_digest((_HEADER + lines).encode("ascii"))


def differences(left: Key | Mapping[str, str], right: Key | Mapping[str, str]) -> list[Difference]:
    """Return the components in which two keys, or two recorded component tables, differ; sorted by name."""
    ours, theirs = _table(left), _table(right)
    pairs = (Difference(name, ours.get(name), theirs.get(name)) for name in sorted({*ours, *theirs}))
    return [pair for pair in pairs if pair.left != pair.right]


def _table(key: Key | Mapping[str, str]) -> Mapping[str, str]:
    return key.components if isinstance(key, Key) else key


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise KeyComponentError(f"key component name {name!r}: use letters, digits and _.:/@+- only")
    return name


def _digest_or_none(path: Path) -> str | None:
    try:
        return file_digest(path)
    except OSError:
        return None


def _canonical_json(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii")


def _plain(value: Any, content_of: Callable[[Path], str]) -> Any:
    """Return ``value`` in exact JSON types; subclasses (enum members, NumPy floats) count as the type they extend."""
    if value is None or isinstance(value, bool):
        return value
    for exact in (int, float):
        if isinstance(value, exact):
            return exact(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {_CONTENT: bytes_digest(value)}
    if isinstance(value, os.PathLike):
        return {_CONTENT: content_of(Path(value).absolute())}
    if isinstance(value, Mapping):
        return {_member(name): _plain(item, content_of) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, content_of) for item in value]
    raise TypeError(f"{type(value).__name__} has no stable encoding; use JSON values, bytes or a path")


def _member(name: Any) -> str:
    if not isinstance(name, str) or name.startswith("\0"):
        raise TypeError(f"mapping member {name!r} must be a string that does not start with a null character")
    return str.__str__(name)
