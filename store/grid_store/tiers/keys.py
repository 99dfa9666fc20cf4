"""Keys: ed25519 pairs that sign records, and the public ones that a user trusts. Files in the user's configuration."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from grid_store.errors import TierSettingsError
from grid_store.tiers.settings import config_folder, written

KIND = "ed25519"
_NAME = re.compile(r"[A-Za-z0-9_.@+-]{1,100}")
_SHOWN = 16


@dataclass(frozen=True)
class PublicKey:
    """What a signature is checked with.

    Attributes
    ----------
    name : str
        What the user calls it.
    raw : bytes
        32 bytes.
    """

    name: str
    raw: bytes

    @property
    def identity(self) -> str:
        """The start of its digest, which names it in records and messages."""
        return hashlib.sha256(self.raw).hexdigest()[:_SHOWN]

    @property
    def text(self) -> str:
        """The one line that is given to others."""
        return f"{KIND} {base64.b64encode(self.raw).decode('ascii')}"

    def holds(self, signature: bytes, data: bytes) -> bool:
        """Return whether the owner of this key signed ``data``."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, data)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class SigningKey:
    """A pair of keys; the private one never leaves its file."""

    public: PublicKey
    private: Ed25519PrivateKey

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data)


def make_key(name: str) -> SigningKey:
    """Make a pair of keys, keep it in the user's configuration, and trust it.

    Raises
    ------
    TierSettingsError
        There is one of that name, the name cannot be that of a file, or the file cannot be written.
    """
    path = _own(name)
    if path.exists():
        raise TierSettingsError(f"there is a key {name!r} already, in {path}; choose another name")
    private = Ed25519PrivateKey.generate()
    with written(path), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()))
    key = _pair(name, private)
    trust_key(name, key.public.text)
    return key


def own_key(name: str) -> SigningKey:
    """Return a pair of the user's keys.

    Raises
    ------
    TierSettingsError
        There is none of that name, or its file is broken.
    """
    path = _own(name)
    try:
        return _pair(name, Ed25519PrivateKey.from_private_bytes(path.read_bytes()))
    except FileNotFoundError as error:
        raise TierSettingsError(
            f"there is no key {name!r} to sign with; 'grid-rbd keys make {name}' makes it"
        ) from error
    except (OSError, ValueError) as error:
        raise TierSettingsError(f"{path} holds no key ({error}); remove it and make another") from error


def own_names() -> list[str]:
    """Return the names of the user's pairs, sorted."""
    return sorted(path.stem for path in (config_folder() / "keys").glob("*.key"))


def trust_key(name: str, text: str) -> PublicKey:
    """Believe records that are signed with the key whose line is ``text``.

    Raises
    ------
    TierSettingsError
        It is no public key, another one is trusted under this name, or the file cannot be written.
    """
    path, key = _trusted(name), _parsed(name, text)
    known = {other.name: other for other in trusted_keys()}
    if name in known and known[name] != key:
        raise TierSettingsError(f"another key is trusted as {name!r}; forget that one first, or choose another name")
    with written(path):
        path.write_text(f"{key.text}\n", "ascii")
    return key


def forget_key(name: str) -> None:
    """Trust a key no longer; a pair of that name stays.

    Raises
    ------
    TierSettingsError
        No key is trusted under that name.
    """
    try:
        _trusted(name).unlink()
    except FileNotFoundError as error:
        raise TierSettingsError(f"no key is trusted as {name!r}; 'grid-rbd keys list' shows those that are") from error


def trusted_keys() -> list[PublicKey]:
    """Return the keys that the user trusts, sorted by name."""
    paths = sorted((config_folder() / "trusted").glob("*.pub"))
    return [_parsed(path.stem, path.read_text("utf-8", "replace")) for path in paths]


def _pair(name: str, private: Ed25519PrivateKey) -> SigningKey:
    return SigningKey(PublicKey(name, private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)), private)


def _parsed(name: str, text: str) -> PublicKey:
    kind, _, encoded = text.strip().partition(" ")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if kind != KIND or len(raw) != 32:
        raise TierSettingsError(f"key {name!r}: {text.strip()[:60]!r} is no public key, which reads '{KIND} ...'")
    return PublicKey(name, raw)


def _own(name: str) -> Path:
    return config_folder() / "keys" / f"{_checked(name)}.key"


def _trusted(name: str) -> Path:
    return config_folder() / "trusted" / f"{_checked(name)}.pub"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise TierSettingsError(f"{name!r:.120} cannot name a key; use letters, digits and _.@+- only")
    return name
