"""The arguments that nearly every public function has: which robot, and in which store."""

from __future__ import annotations

import re
from pathlib import Path

from grid_core.errors import OptionError
from grid_core.model.xml_source import path_text
from grid_store import Store
from grid_store.tiers import configured_tiers


def checked_name(name: object) -> str:
    """Return the name of a robot if it is text.

    Raises
    ------
    OptionError
        It is not.
    """
    return checked_text(name, "name", "the name of a robot")


def new_name(name: object) -> str:
    """Return a name that a robot may be registered under.

    Raises
    ------
    OptionError
        It is no text, empty, or could be taken for a path.
    """
    text = checked_name(name)
    if not is_name(text):
        raise OptionError(
            f"name is {text!r:.80}, expected printable text such as 'left_arm', which has no part between slashes that "
            "is empty, '.' or '..'"
        )
    return text


def is_name(text: str) -> bool:
    """Tell whether a robot may be registered under a name."""
    return text.isprintable() and all(part.strip() not in ("", ".", "..") for part in re.split(r"[/\\]", text))


def checked_text(value: object, argument: str, meaning: str) -> str:
    """Return the value of an argument if it is text; ``meaning`` says in errors what it should be."""
    if not isinstance(value, str):
        raise OptionError(f"{argument} is {value!r:.80}, expected {meaning} (str)")
    return value


def open_store(cache_dir: str | Path | None, *, strict: bool = False) -> Store:
    """Return the store that a user means; ``None`` is the default one.

    Raises
    ------
    OptionError
        ``cache_dir`` is no path, or an empty one, which is a variable that nobody set more often than a wish.
    TierSettingsError
        The user's tiers cannot be as they are.
    """
    root = path_text(cache_dir)
    if cache_dir is not None and (not root or "\0" in root):
        raise OptionError(
            f"cache_dir is {cache_dir!r:.80}, expected the path of a folder (str or pathlib.Path), or None for the "
            "default one"
        )
    return Store(root, strict=strict, tiers=configured_tiers())
