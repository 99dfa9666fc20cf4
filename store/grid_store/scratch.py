"""Temporary folders of this process, which the next process that needs one removes if this one is killed.

A lock on a file in each folder, which the kernel ends with its process, tells whether somebody still works there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from grid_store.advisory import share, take_alone

PREFIX = "grid-rbd-"
ALIVE = ".alive"
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class Scratch:
    """A private folder, until :meth:`remove` or :meth:`keep`.

    Parameters
    ----------
    purpose : str
        Part of its name.

    Raises
    ------
    OSError
        It cannot be made; nothing is left of it.
    """

    def __init__(self, purpose: str) -> None:
        sweep_scratch()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-"))
        try:
            self._descriptor = _locked(self.folder)
        except OSError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._descriptor)

    def keep(self) -> None:
        """Leave the folder to whoever wants to look into it."""
        with contextlib.suppress(OSError):
            (self.folder / ALIVE).unlink()
        os.close(self._descriptor)


def _locked(folder: Path) -> int:
    """Lock the file that says that somebody works in ``folder``; it gets its name last, so nobody sees it unlocked."""
    hidden = folder / f"{ALIVE}.new"
    descriptor = os.open(hidden, _CREATE, 0o600)
    try:
        share(descriptor)
        hidden.rename(folder / ALIVE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def sweep_scratch() -> int:
    """Remove the folders of this user's processes that died, and return how many there were."""
    try:
        found = [path for path in Path(tempfile.gettempdir()).iterdir() if path.name.startswith(PREFIX)]
    except OSError:
        return 0
    return sum(map(_sweep_one, found))


def _sweep_one(folder: Path) -> bool:
    try:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return False
        descriptor = os.open(folder / ALIVE, _OPEN)
    except OSError:
        return False
    try:
        abandoned = take_alone(descriptor)
        if abandoned:
            shutil.rmtree(folder, ignore_errors=True)
        return abandoned
    finally:
        os.close(descriptor)
