"""SHA-256 of bytes and of files, and the check that a string is such a digest."""

from __future__ import annotations

import hashlib
import re
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from grid_store.errors import KeyComponentError

_DIGEST = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


def is_digest(text: str) -> bool:
    """Return whether ``text`` is 64 lower-case hexadecimal digits."""
    return _DIGEST.fullmatch(text) is not None


def check_digest(text: str) -> str:
    """Return ``text``.

    Raises
    ------
    KeyComponentError
        It is not 64 lower-case hexadecimal digits.
    """
    if not is_digest(text):
        raise KeyComponentError(f"{text!r} is not a store key: a key is the 64 hexadecimal digits of Key(...).digest")
    return text


def bytes_digest(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 of ``data`` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def stream_digest(stream: BinaryIO | FileIO) -> str:
    """Return the SHA-256 of the rest of ``stream`` in hexadecimal."""
    state = hashlib.sha256()
    while chunk := stream.read(_CHUNK):
        state.update(chunk)
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of the content of the file at ``path`` in hexadecimal; times and names do not count."""
    with path.open("rb") as stream:
        return stream_digest(stream)
