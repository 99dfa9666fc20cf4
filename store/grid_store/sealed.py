"""Records that show whether a byte of them changed: their last member is the digest of all that stands before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grid_store.atomic import decode, encode
from grid_store.digest import bytes_digest

_END = b"\n}\n"


def seal_text(value: Mapping[str, Any], what: str) -> bytes:
    """Return ``value`` as the JSON text of a sealed record; ``what`` names it in the error.

    Raises
    ------
    PublishError
        ``value`` has something that JSON has not.
    """
    head = encode(dict(value), what).removesuffix(_END) + b",\n"
    return head + _tail(head)


def unseal(data: bytes) -> dict[str, Any]:
    """Return the members of a sealed record.

    Raises
    ------
    ValueError
        It is none, or a byte of it changed.
    """
    head = data[: -len(_tail(b""))]
    if data != head + _tail(head):
        raise ValueError("its seal does not fit: it was cut or changed")
    record: dict[str, Any] = decode(data)
    del record["seal"]
    return record


def _tail(head: bytes) -> bytes:
    return f' "seal": "{bytes_digest(head)}"'.encode("ascii") + _END
