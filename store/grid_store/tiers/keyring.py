"""The keys that tiers work with, read when they are first needed: most processes only look at the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from grid_store.errors import TierSettingsError
from grid_store.tiers.settings import TiersSettings

if TYPE_CHECKING:
    from grid_store.tiers.keys import PublicKey, SigningKey


@dataclass(frozen=True)
class Keyring:
    """Keys whose records are believed, and the one that signs what is written, if there is one."""

    trusted: Sequence[PublicKey]
    signing: SigningKey | None = None


def load_keyring(settings: TiersSettings) -> Keyring:
    """Return the keys of the user's configuration.

    Raises
    ------
    TierSettingsError
        A key is missing or broken, or the package is that reads it.
    """
    keys = key_files()
    signing = keys.own_key(settings.sign_with) if settings.sign_with else None
    if signing is None and any(tier.write and tier.verify for tier in settings.tiers):
        raise TierSettingsError(
            "a tier is written to, and there is no key to sign with; 'grid-rbd keys make NAME' makes one"
        )
    return Keyring(keys.trusted_keys(), signing)


def key_files() -> ModuleType:
    """Return :mod:`grid_store.tiers.keys`.

    Raises
    ------
    TierSettingsError
        The package is not installed that keys need.
    """
    try:
        from grid_store.tiers import keys
    except ImportError as error:
        raise TierSettingsError(f"keys need cryptography ({error}); pip install 'grid-rbd[tiers]'") from error
    return keys
