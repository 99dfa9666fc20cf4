"""Where builds go while the root cannot be used: a private directory that is removed when the process ends."""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from pathlib import Path

from grid_store.errors import StoreDegradedWarning, StoreUnavailableError
from grid_store.layout import Layout
from grid_store.scratch import Scratch

_guard = threading.Lock()
_substitutes: dict[tuple[Path, int], Layout] = {}


def substitute(layout: Layout, cause: StoreUnavailableError) -> Layout:
    """Return the temporary store of this process for an unusable one; the first call for a root warns.

    Raises
    ------
    StoreUnavailableError
        There is no place for temporary files either.
    """
    with _guard:
        known = existing_substitute(layout)
        if known is None:
            known = _substitutes[layout.root, os.getpid()] = Layout(_new_root(cause))
            warnings.warn(
                f"{cause}; until this process ends, builds go to {known.root}", StoreDegradedWarning, stacklevel=5
            )
    return known


def existing_substitute(layout: Layout) -> Layout | None:
    """Return the temporary store that :func:`substitute` made before in this process."""
    return _substitutes.get((layout.root, os.getpid()))


def _new_root(cause: StoreUnavailableError) -> Path:
    try:
        scratch = Scratch("store")
    except OSError as error:
        raise StoreUnavailableError(f"{cause}; a temporary place cannot be made either: {error}") from cause
    atexit.register(_remove, scratch, os.getpid())
    return scratch.folder


def _remove(scratch: Scratch, owner: int) -> None:
    if os.getpid() == owner:
        scratch.remove()
