"""Sealed records: a change of any byte shows."""

from __future__ import annotations

import json

import pytest

from grid_store import PublishError
from grid_store.sealed import seal_text, unseal

RECORD = {"key": "ab", "files": {"robot.so": 3}, "list": [], "empty": {}}


def test_what_is_sealed_is_opened() -> None:
    text = seal_text(RECORD, "a record")
    assert unseal(text) == RECORD
    assert json.loads(text).keys() == {*RECORD, "seal"}


def test_no_byte_can_change() -> None:
    text = seal_text(RECORD, "a record")
    for at in range(len(text)):
        for bit in (0x01, 0x20, 0x80):
            changed = bytearray(text)
            changed[at] ^= bit
            with pytest.raises(ValueError, match="seal does not fit"):
                unseal(bytes(changed))


@pytest.mark.parametrize("text", [b"", b"{}", b"[]\n", b"\0" * 200])
def test_what_was_never_sealed_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="seal does not fit"):
        unseal(text)


def test_what_json_has_not_is_refused() -> None:
    with pytest.raises(PublishError, match="a record must consist of JSON values"):
        seal_text({"number": float("nan")}, "a record")
