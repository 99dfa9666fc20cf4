"""Whether a root may be used: refused when others can write to it, unavailable when we cannot."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from grid_store.atomic import replace_file
from grid_store.errors import StoreUnavailableError, StoreWriteError, UnsafeStoreError
from grid_store.layout import AREAS, Layout
from grid_store.modes import Modes, ensure_directory, modes_of, refuse_symlink

_TAG = b"""Signature: 8a477f597d28d172789f06886806bc55
# This file marks a cache directory of grid-rbd; everything beside it can be built again.
# See https://bford.info/cachedir/ for what the mark means.
"""
_UNAVAILABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ELOOP}


def check_root(layout: Layout) -> os.stat_result | None:
    """Return the status of the root, or ``None`` while there is no store below it.

    Raises
    ------
    UnsafeStoreError
        Others can write to the root or to the store below it, or the store is a symbolic link.
    StoreUnavailableError
        The root cannot be read, is a symbolic link to nothing, no directory, or relative (see
        :func:`~grid_store.layout.default_root`).
    """
    if not layout.root.is_absolute():
        raise _unavailable(layout, "this user has no home directory")
    try:
        status = layout.root.stat()
        if not stat.S_ISDIR(status.st_mode):
            raise _unavailable(layout, "it is not a directory")
        _refuse_writable_for_others(layout.root, status)
        _refuse_writable_for_others(layout.base, refuse_symlink(layout.base))
    except FileNotFoundError as error:
        if layout.root.is_symlink() and not layout.root.exists():
            raise _unavailable(
                layout, f"it is a symbolic link to {layout.root.readlink()}, which is not there"
            ) from error
        return None
    except OSError as error:
        raise _unavailable(layout, error.strerror) from error
    if not os.access(layout.base, os.R_OK | os.X_OK):
        raise _unavailable(layout, "no permission to read it")
    return status


def require_store(layout: Layout, purpose: str) -> None:
    """Raise as :func:`check_root`, and ``StoreUnavailableError`` while there is no store below the root."""
    if check_root(layout) is None:
        raise StoreUnavailableError(
            f"store {layout.root}: there is none, and nothing to {purpose}; give the folder of a store "
            "(cache_dir or GRID_RBD_CACHE_DIR), or build a robot first"
        )


def prepare(layout: Layout) -> Modes:
    """Make the directories of the store and return the permission bits for what comes into them.

    Raises
    ------
    UnsafeStoreError
        As :func:`check_root`.
    StoreUnavailableError
        The store is read-only, or its root cannot be made.
    StoreWriteError
        The disk is full.
    """
    check_root(layout)
    try:
        modes = _make(layout)
    except OSError as error:
        if error.errno in _UNAVAILABLE:
            raise _unavailable(layout, error.strerror) from error
        raise StoreWriteError(f"store {layout.root}: cannot make its directories: {error}") from error
    for area in AREAS:
        if not os.access(layout.area(area), os.W_OK | os.X_OK):
            raise _unavailable(layout, f"no permission to write to {area}/")
    return modes


def _make(layout: Layout) -> Modes:
    layout.root.parent.mkdir(parents=True, exist_ok=True)
    if not layout.root.is_dir():
        layout.root.mkdir(mode=0o700, exist_ok=True)
    status = layout.root.stat()
    _refuse_writable_for_others(layout.root, status)
    modes = modes_of(status)
    for directory in (layout.base, *map(layout.area, AREAS)):
        ensure_directory(directory, modes)
    tag = layout.root / "CACHEDIR.TAG"
    if not tag.exists() and os.access(layout.root, os.W_OK):
        replace_file(tag, _TAG, layout.area("tmp"))
    return modes


def _refuse_writable_for_others(path: Path, status: os.stat_result) -> None:
    if status.st_mode & stat.S_IWOTH:
        raise UnsafeStoreError(
            f"store {path}: every user can write to it, so what it holds cannot be trusted; run chmod o-w on it,"
            " or choose a directory of your own"
        )


def _unavailable(layout: Layout, reason: str | None) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"store {layout.root}: {reason}; give access to it, or set GRID_RBD_CACHE_DIR to a directory that is writable"
    )
