"""Signed records of requests: which entry answers a request, by the digest of the entry's own record."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from grid_store.actions import ActionRecord
from grid_store.atomic import decode
from grid_store.digest import check_digest
from grid_store.errors import RefusedRecordError
from grid_store.key import combine
from grid_store.tiers.keys import PublicKey, SigningKey

_HEADER = b"grid-store statement 1\n"
"""Stands before what is signed, so that no signature can be taken for one of something else."""


@dataclass(frozen=True)
class Statement:
    """One request, and the entry that answers it.

    Attributes
    ----------
    action : ActionRecord
    record : str
        Digest of the entry's record, which names the digests of its files.
    """

    action: ActionRecord
    record: str


def write_statement(statement: Statement, key: SigningKey | None) -> bytes:
    """Return the text of a statement, signed if there is a key."""
    text = json.dumps({**asdict(statement.action), "record": statement.record}, sort_keys=True)
    envelope: dict[str, Any] = {"statement": text, "key": None, "signature": None}
    if key:
        signature = base64.b64encode(key.sign(_HEADER + text.encode("ascii"))).decode("ascii")
        envelope |= {"key": key.public.identity, "signature": signature}
    return json.dumps(envelope, indent=1).encode("ascii")


def read_statement(data: bytes, request: str, trusted: Sequence[PublicKey], *, verify: bool) -> Statement:
    """Return the statement about ``request``, once a trusted key proved to have signed it.

    Raises
    ------
    RefusedRecordError
        It is not signed, by a key that is not trusted, or wrongly; or it is about another request, or no statement.
    """
    try:
        envelope = dict(decode(data))
        text, key, signature = envelope["statement"], envelope["key"], envelope["signature"]
        signed = _HEADER + text.encode("ascii")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RefusedRecordError(f"it is no signed record ({error})") from error
    if verify:
        _check_signature(key, signature, signed, trusted)
    return _parsed(text, request)


def _check_signature(key: Any, signature: Any, signed: bytes, trusted: Sequence[PublicKey]) -> None:
    if key is None or signature is None:
        raise RefusedRecordError("it is not signed")
    known = next((candidate for candidate in trusted if candidate.identity == key), None)
    if known is None:
        raise RefusedRecordError(
            f"it is signed with the key {str(key)[:64]!r}, which is not trusted; 'grid-rbd keys trust' adds its owner's"
        )
    try:
        raw = base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raw = b""
    if not known.holds(raw, signed):
        raise RefusedRecordError(f"its signature is not that of the key {known.name!r} ({known.identity}), as it says")


def _parsed(text: str, request: str) -> Statement:
    try:
        values: Mapping[str, Any] = decode(text)
        record = check_digest(values["record"])
        action = ActionRecord(**{name: value for name, value in values.items() if name != "record"})
        fits = action.input == request == combine(action.components) and check_digest(action.content)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RefusedRecordError(f"what is signed is no statement ({error})") from error
    if not fits:
        raise RefusedRecordError(f"it answers the request {str(action.input)[:12]}, not this one")
    return Statement(action, record)
