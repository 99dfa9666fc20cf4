"""Keys: made once, private for their owner, trusted by name."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from grid_store import TierSettingsError
from grid_store.tiers.keys import forget_key, make_key, own_key, own_names, trust_key, trusted_keys


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRID_RBD_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


def test_a_pair_signs_and_is_trusted_by_its_maker(config: Path) -> None:
    made = make_key("me")
    again = own_key("me")
    assert again.public == made.public
    signature = again.sign(b"data")
    assert trusted_keys() == [made.public]
    assert made.public.holds(signature, b"data")
    assert not made.public.holds(signature, b"date")
    assert not make_key("you").public.holds(signature, b"data")
    assert own_names() == ["me", "you"]
    file = config / "keys" / "me.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_key_is_made_once() -> None:
    make_key("me")
    with pytest.raises(TierSettingsError, match="there is a key 'me' already"):
        make_key("me")


def test_trust_is_given_and_taken() -> None:
    other = make_key("other").public
    forget_key("other")
    assert trusted_keys() == []
    assert trust_key("friend", f"  {other.text}\n").identity == other.identity
    assert trust_key("friend", other.text).name == "friend"
    with pytest.raises(TierSettingsError, match="another key is trusted as 'friend'"):
        trust_key("friend", make_key("third").public.text)
    with pytest.raises(TierSettingsError, match="no key is trusted as 'nobody'"):
        forget_key("nobody")


@pytest.mark.parametrize("text", ["", "ed25519", "ed25519 AAAA", "rsa AAAA", "ed25519 no base64", "ed25519 é"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(TierSettingsError, match="is no public key, which reads 'ed25519"):
        trust_key("friend", text)
    assert trusted_keys() == []


@pytest.mark.parametrize("name", ["", "../evil", "a/b", ".hidden", "a b", "x" * 101])
def test_names_that_are_no_files_are_refused(name: str, config: Path) -> None:
    for use in (make_key, own_key, forget_key, lambda name: trust_key(name, "ed25519 AAAA")):
        with pytest.raises(TierSettingsError, match="cannot name a key"):
            use(name)
    assert not config.exists()


def test_a_broken_pair_is_named(config: Path) -> None:
    make_key("me")
    (config / "keys" / "me.key").write_bytes(b"short")
    with pytest.raises(TierSettingsError, match=r"me\.key holds no key"):
        own_key("me")
