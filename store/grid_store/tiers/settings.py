"""Which tiers a user has, in a JSON file of the user's configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from grid_store.atomic import decode
from grid_store.errors import TierSettingsError
from grid_store.layout import absolute

ENVIRONMENT = "GRID_RBD_CONFIG_DIR"
FILE = "tiers.json"
READ_ONLY = ("http", "https")
"""Protocols that nothing is written to."""
LOCAL = ("file", "local")
"""Protocols of this machine's file systems, where a relative path would lead elsewhere from every working directory."""
TIMEOUT = 20.0


@dataclass(frozen=True)
class TierSettings:
    """One tier.

    Attributes
    ----------
    url : str
        ``file:///shared/robots``, ``s3://bucket/robots``, ``https://host/robots``.
    write : bool
        Leave there what was built here, or found in a later tier.
    timeout : float
        Seconds that one operation may take.
    verify : bool
        Believe records only if a trusted key signed them.
    options : dict
        What fsspec takes for this protocol, such as ``endpoint_url``.
    """

    url: str
    write: bool = False
    timeout: float = TIMEOUT
    verify: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be a tier."""
        _check_types(self, url=str, write=bool, timeout=(int, float), verify=bool, options=dict)
        parts = urlsplit(self.url)
        protocol = parts.scheme
        if parts.password is not None:
            raise TierSettingsError(
                f"a {protocol} tier has a password in its URL, which messages would show; give it as an option"
            )
        if not protocol:
            raise TierSettingsError(
                f"tier {self.url!r} has no protocol; give a URL such as file:///shared/robots or s3://bucket/robots"
            )
        if protocol in LOCAL and (parts.netloc or not parts.path.startswith("/")):
            raise TierSettingsError(
                f"tier {self.url!r} is not an absolute path; give one, behind three slashes: file:///shared/robots"
            )
        if self.write and protocol in READ_ONLY:
            raise TierSettingsError(f"tier {self.url!r}: nothing can be written by {protocol}; leave write out")
        if not 0.0 < self.timeout < float("inf"):
            raise TierSettingsError(
                f"tier {self.url!r}: timeout is {self.timeout!r}, expected a number of seconds above 0"
            )


@dataclass(frozen=True)
class TiersSettings:
    """All tiers, in the order in which they are asked.

    Attributes
    ----------
    tiers : tuple of TierSettings
    sign_with : str or None
        Name of the key that signs what is written.
    fallback : bool
        Compile what no tier has; otherwise that is an error.
    """

    tiers: tuple[TierSettings, ...] = ()
    sign_with: str | None = None
    fallback: bool = True

    def __post_init__(self) -> None:
        """Refuse values of other types, such as a fallback that is ``"off"``."""
        _check_types(self, sign_with=(str, NoneType), fallback=bool)


def _check_types(settings: Any, **kinds: type | tuple[type, ...]) -> None:
    for name, kind in kinds.items():
        if not isinstance(value := getattr(settings, name), kind):
            names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise TierSettingsError(f"{name} is {value!r:.80}, expected {names}")


def config_folder() -> Path:
    """Return where the user's configuration is: ``GRID_RBD_CONFIG_DIR``, else the user's configuration directory."""
    if chosen := os.environ.get(ENVIRONMENT):
        return absolute(chosen)
    return Path(platformdirs.user_config_dir("grid-rbd", appauthor=False))


def load_settings() -> TiersSettings:
    """Return the user's tiers; none if there is no file.

    Raises
    ------
    TierSettingsError
        The file cannot be read or understood.
    """
    path = config_folder() / FILE
    try:
        values = decode(path.read_bytes())
        tiers = tuple(TierSettings(**tier) for tier in values["tiers"])
        return TiersSettings(tiers, values["sign_with"], values["fallback"])
    except (FileNotFoundError, NotADirectoryError):
        return TiersSettings()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise TierSettingsError(f"{path} cannot be understood ({error}); mend it, or remove it") from error


def save_settings(settings: TiersSettings) -> Path:
    """Write the user's tiers, readable for the user alone since options may hold secrets; return the file.

    Raises
    ------
    TierSettingsError
        The folder cannot be written.
    """
    path = config_folder() / FILE
    part = path.with_name(f".{FILE}.{os.getpid()}.part")
    with written(path):
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
            json.dump(asdict(settings), stream, indent=1)
        part.replace(path)
    return path


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Make the folder of a file of the configuration, which the block writes.

    Raises
    ------
    TierSettingsError
        The system refuses that.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise TierSettingsError(
            f"{path} cannot be written: {error.strerror}; give access to it, or set {ENVIRONMENT} to another folder"
        ) from error
