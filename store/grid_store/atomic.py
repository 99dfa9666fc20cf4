"""Durable writes, a reader sees the old content or the new one, also after a power loss; and the texts of records."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from grid_store.errors import PublishError
from grid_store.modes import SEALED


def sync(path: Path) -> None:
    """Flush the file or directory at ``path`` to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_synced(path: Path, data: bytes, mode: int) -> None:
    """Write ``data`` to a new file at ``path`` with exactly the bits ``mode`` and flush it."""
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fchmod(stream.fileno(), mode)
        os.fsync(stream.fileno())


def replace_file(path: Path, data: bytes, staging: Path) -> None:
    """Write ``data`` to a new file in ``staging`` and rename it to ``path`` on the same file system."""
    temporary = staging / f"file.{os.urandom(8).hex()}"
    try:
        write_synced(temporary, data, SEALED)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    sync(path.parent)


def encode(value: Any, what: str) -> bytes:
    """Return ``value`` as the JSON text of a record; ``what`` names it in the error.

    Raises
    ------
    PublishError
        ``value`` has something that JSON has not.
    """
    try:
        return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode("ascii")
    except (TypeError, ValueError) as error:
        raise PublishError(f"{what} must consist of JSON values: {error}") from error


def decode(data: bytes | str) -> Any:
    """Return the value of a JSON text, whoever wrote it.

    Raises
    ------
    ValueError
        It is no JSON, or nested more deeply than any record.
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
