"""Staging: where an entry grows before it is published. Its directory is locked while its builder lives."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType

from grid_store.advisory import share, take_alone
from grid_store.errors import StoreWriteError
from grid_store.layout import Layout
from grid_store.modes import Modes

_STAGED = "[0-9a-f]" * 8 + "*.*"
"""What staging directories are called, unlike the trash of a collection, which nobody holds."""
_DELETERS = 4
"""Threads that delete; file systems do several such things at once."""
_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Staged:
    """A directory that grows; a ``kept`` one could not be published and serves this process to its end."""

    directory: Path
    kept: bool = False


@contextlib.contextmanager
def staging(layout: Layout, key: str, modes: Modes) -> Iterator[Staged]:
    """Give a new directory for the files of ``key``; what is left of it at the end is removed unless it is kept."""
    try:
        directory, descriptor = _new(layout, key)
        directory.chmod(modes.directory)
    except OSError as error:
        raise StoreWriteError(f"store {layout.root}: cannot make a staging directory: {error}") from error
    staged = Staged(directory)
    try:
        yield staged
    finally:
        if not staged.kept:
            shutil.rmtree(directory, ignore_errors=True)
            os.close(descriptor)


def _new(layout: Layout, key: str) -> tuple[Path, int]:
    while True:
        directory = _fresh(layout, f"{key}.")
        with contextlib.suppress(FileNotFoundError):  # a sweep may take it between the two steps
            return directory, _hold(directory)


def _hold(directory: Path) -> int:
    try:
        descriptor = os.open(directory, _OPEN_DIRECTORY)
    except OSError:
        directory.rmdir()
        raise
    share(descriptor)
    if not directory.exists():
        os.close(descriptor)
        raise FileNotFoundError(directory)
    return descriptor


def _fresh(layout: Layout, prefix: str) -> Path:
    return Path(tempfile.mkdtemp(dir=layout.area("tmp"), prefix=prefix))


class Trash:
    """What a collection removes: moved out of sight in one step each, and deleted while the collection goes on."""

    def __init__(self, layout: Layout) -> None:
        self._folder = _fresh(layout, "trash.")
        self._deleting = ThreadPoolExecutor(_DELETERS, thread_name_prefix="grid-store-trash")

    def take(self, directory: Path) -> None:
        """Move ``directory`` here, ready to be deleted."""
        aside = self._folder / directory.name
        directory.rename(aside)
        self._deleting.submit(shutil.rmtree, aside, ignore_errors=True)

    def __enter__(self) -> Trash:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._deleting.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)


def remove_files(paths: Iterable[Path]) -> None:
    """Remove files, several at once; those that are gone already do not matter."""
    with ThreadPoolExecutor(_DELETERS) as deleting:
        for _ in deleting.map(partial(Path.unlink, missing_ok=True), paths):
            pass


def sweep(layout: Layout, pattern: str = _STAGED, *, execute: bool = True) -> int:
    """Remove the directories of the staging area whose builder is dead, by default not those of a collection.

    Returns
    -------
    int
        How many there were.
    """
    return sum(_sweep_one(path, execute=execute) for path in layout.area("tmp").glob(pattern))


def _sweep_one(directory: Path, *, execute: bool) -> bool:
    """Remove ``directory`` while holding what its builder would hold; return whether nobody did."""
    try:
        descriptor = os.open(directory, _OPEN_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        abandoned = take_alone(descriptor)
        if abandoned and execute:
            shutil.rmtree(directory, ignore_errors=True)
        return abandoned
    finally:
        os.close(descriptor)
