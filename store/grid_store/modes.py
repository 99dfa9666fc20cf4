"""Permission bits: private by default, shared with the group when the root is writable for its group."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from grid_store.errors import UnsafeStoreError

SEALED = 0o444
"""A published file: nobody writes to it again. Privacy comes from the directories above."""


@dataclass(frozen=True)
class Modes:
    """The bits of everything that a store creates, and the group that shares it (``None``: private)."""

    directory: int
    file: int
    group: int | None = None


PRIVATE = Modes(directory=0o700, file=0o600)


def modes_of(root: os.stat_result) -> Modes:
    """Return the bits for a store whose root has the status ``root``; the umask has no say in them."""
    if root.st_mode & stat.S_IWGRP:
        return Modes(directory=0o2770, file=0o660, group=root.st_gid)
    return PRIVATE


def refuse_symlink(path: Path) -> os.stat_result:
    """Return the status of ``path`` itself.

    Raises
    ------
    UnsafeStoreError
        ``path`` is a symbolic link.
    """
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise UnsafeStoreError(f"{path} is a symbolic link; only the root of a store may be one: remove the link")
    return status


def ensure_directory(path: Path, modes: Modes) -> None:
    """Make the directory ``path`` unless it is there; several processes may do so at once."""
    try:
        path.mkdir(mode=modes.directory & 0o777)
    except FileExistsError:
        refuse_symlink(path)
        return
    if modes.group is not None:
        with contextlib.suppress(PermissionError):
            os.chown(path, -1, modes.group)
    path.chmod(modes.directory)
