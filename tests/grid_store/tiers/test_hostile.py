"""A tier in the hands of an enemy: nothing that it says is believed, and nothing of it is executed or unpickled."""

from __future__ import annotations

import base64
import json
import logging
import os
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grid_store import Entry, Key, Store
from grid_store.tiers import TierSettings, TiersSettings
from grid_store.tiers.keyring import Keyring
from grid_store.tiers.statement import Statement, write_statement
from grid_store.tiers.tiers import Tiers

from .people import REQUEST, Person, Produce, build

Refused = Callable[[], str]


@pytest.fixture
def statement(shared: Path, built: Entry) -> Path:
    return shared / "v1" / "requests" / REQUEST.digest[:2] / f"{REQUEST.digest}.json"


@pytest.fixture
def refused(user: Person, tier: TierSettings, built: Entry, caplog: pytest.LogCaptureFixture) -> Refused:
    """Ask the tier, which must be refused; return what the log says of it."""

    def ask() -> str:
        store = user.store(replace(tier, write=False))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert store.fetch(REQUEST) is None
        assert store.lookup(REQUEST.digest) is None
        assert list(store.entries()) == []
        assert not any((store.root / "v1" / "tmp").iterdir())
        assert store.tier_counts()[tier.url]["refused"] >= 1
        return caplog.text

    return ask


def _edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_an_unsigned_record_is_refused(refused: Refused, statement: Path) -> None:
    _edit(statement, key=None, signature=None)
    assert "it is not signed" in refused()
    _edit(statement, key="", signature=None)
    assert "it is not signed" in refused()


def test_a_record_of_an_unknown_key_is_refused_by_name(
    refused: Refused,
    tier: TierSettings,
    built: Entry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    produce: Produce,
) -> None:
    stranger = Person(tmp_path / "stranger", monkeypatch)
    build(stranger.store(tier), produce)
    said = refused()
    assert f"signed with the key '{stranger.key.public.identity}', which is not trusted" in said
    assert "keys trust" in said


def test_a_record_that_claims_the_key_of_another_is_refused_by_name(
    refused: Refused, statement: Path, builder: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = Person(tmp_path / "stranger", monkeypatch)
    text = json.loads(statement.read_text())["statement"]
    forged = stranger.key.sign(b"grid-store statement 1\n" + text.encode())
    _edit(statement, signature=base64.b64encode(forged).decode())
    assert f"not that of the key 'builder' ({builder.key.public.identity})" in refused()


@pytest.mark.parametrize("signature", ["", "AAAA", "no base64!", 7, ["x"]])
def test_nonsense_for_a_signature_is_refused(refused: Refused, statement: Path, signature: object) -> None:
    _edit(statement, signature=signature)
    assert "its signature is not that of the key 'builder'" in refused()


def test_a_signature_without_the_header_does_not_count(refused: Refused, statement: Path, builder: Person) -> None:
    text = json.loads(statement.read_text())["statement"]
    _edit(statement, signature=base64.b64encode(builder.key.sign(text.encode())).decode())
    assert "its signature is not that of the key 'builder'" in refused()


@pytest.mark.parametrize("at", range(0, 900, 37))
def test_no_byte_of_what_is_signed_can_change(refused: Refused, statement: Path, at: int) -> None:
    text = json.loads(statement.read_text())["statement"]
    at %= len(text)
    _edit(statement, statement=text[:at] + chr((ord(text[at]) ^ 1) & 0x7F) + text[at + 1 :])
    assert "its signature is not that of the key 'builder'" in refused()


def test_a_good_record_under_another_request_is_refused(
    builder: Person, tier: TierSettings, statement: Path, refused: Refused, produce: Produce
) -> None:
    store = builder.store(tier)
    other = Key({"request": "evil"})
    store.record(other, store.obtain(Key({"source": b"evil"}), produce).key)
    shutil.copy(statement.parents[1] / other.digest[:2] / f"{other.digest}.json", statement)
    assert f"it answers the request {other.digest[:12]}, not this one" in refused()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"{}", b'"x"', b"\x80\x04", b'{"statement": 1, "key": 2}', b"9" * 10**4, b"[" * 10**5]
)
def test_nonsense_for_a_record_is_refused(refused: Refused, statement: Path, text: bytes) -> None:
    statement.write_bytes(text)
    assert "it is no signed record" in refused()


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._path),)


def test_a_pickle_is_not_opened(refused: Refused, statement: Path, shared: Path, tmp_path: Path, built: Entry) -> None:
    bomb = pickle.dumps(Bomb(tmp_path / "exploded"))
    for path in [path for path in shared.rglob("*") if path.is_file()]:
        path.write_bytes(bomb)
    refused()
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("name", ["robot.so", "include/robot.h"])
@pytest.mark.parametrize("edit", [lambda d: d[:-1], lambda d: d + b"x" * 10**6, lambda d: b"X" + d[1:], lambda _: b""])
def test_a_file_that_was_changed_is_refused(
    refused: Refused, shared: Path, built: Entry, name: str, edit: Callable[[bytes], bytes]
) -> None:
    (blob,) = shared.rglob(built.files[name].digest)
    blob.write_bytes(edit(blob.read_bytes()))
    assert f"{name!r} is not the file that its record names" in refused()


def test_a_file_that_is_missing_is_refused(refused: Refused, shared: Path, built: Entry) -> None:
    (blob,) = shared.rglob(built.files["robot.so"].digest)
    blob.unlink()
    assert "is missing there" in refused()


def test_the_record_of_an_entry_cannot_change(refused: Refused, shared: Path, built: Entry, statement: Path) -> None:
    digest = json.loads(json.loads(statement.read_text())["statement"])["record"]
    (blob,) = shared.rglob(digest)
    blob.write_bytes(blob.read_bytes().replace(b"robot.so", b"../evil!"))
    assert "has another digest there" in refused()


def test_even_a_trusted_signer_cannot_leave_the_entry(
    user: Person, builder: Person, tier: TierSettings, built: Entry, refused: Refused, shared: Path, tmp_path: Path
) -> None:
    from grid_store.digest import bytes_digest
    from grid_store.sealed import seal_text, unseal

    record = unseal((built.directory / "record.json").read_bytes())
    (evil,) = (file for name, file in record["files"].items() if name == "robot.so")
    record["files"] = {"../../../../../evil": evil}
    data = seal_text(record, "a record")
    store = builder.store(tier)
    action = store.lookup(REQUEST.digest)
    assert action is not None
    remote = store._tiers._remotes[0]  # type: ignore[union-attr]
    remote.put_blob(bytes_digest(data), data)
    remote.put_statement(REQUEST.digest, write_statement(Statement(action, bytes_digest(data)), builder.key))
    assert "leaves the entry" in refused()
    assert not list(tmp_path.rglob("evil"))


def test_whoever_is_forgotten_is_believed_no_more(
    user: Person, tier: TierSettings, built: Entry, refused: Refused
) -> None:
    from grid_store.tiers.keys import forget_key

    user.as_me()
    forget_key("builder")
    assert "which is not trusted" in refused()


def test_another_tier_or_a_build_takes_its_place(
    user: Person, tier: TierSettings, built: Entry, statement: Path, shared: Path, tmp_path: Path, produce: Produce
) -> None:
    shutil.copytree(shared, tmp_path / "honest")
    _edit(statement, signature="AAAA")
    honest = TierSettings((tmp_path / "honest").as_uri())
    bad = replace(tier, write=False)
    assert user.store(bad, honest).fetch(REQUEST) is not None
    fresh = Store(tmp_path / "fresh", strict=True, tiers=user.store(bad)._tiers)
    assert fresh.fetch(REQUEST) is None
    assert build(fresh, produce).verified("robot.so")


def test_unsigned_records_are_believed_where_the_user_says_so(
    user: Person, tier: TierSettings, statement: Path, built: Entry, tmp_path: Path
) -> None:
    _edit(statement, key=None, signature=None)
    open_tier = replace(tier, write=False, verify=False)
    tiers = Tiers(TiersSettings((open_tier,)), lambda: Keyring(()))
    assert Store(tmp_path / "fresh", strict=True, tiers=tiers).fetch(REQUEST) is not None
