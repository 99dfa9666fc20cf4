"""Taking over entries that were built elsewhere: nothing of them is believed until it was compared with its record."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from grid_store.atomic import sync, write_synced
from grid_store.digest import stream_digest
from grid_store.entry import Entry, FileRecord, decode_entry
from grid_store.errors import CorruptEntryError
from grid_store.layout import RECORD, Layout
from grid_store.modes import SEALED, Modes
from grid_store.publish import publish
from grid_store.staging import Staged, staging

_CHUNK = 1 << 20


class Reader(Protocol):
    """Something that bytes come from."""

    def read(self, size: int, /) -> bytes: ...


class Newcomer:
    """An entry that is being copied into the staging area: :meth:`add` every file, then :meth:`publish`."""

    def __init__(self, layout: Layout, staged: Staged, key: str, record: bytes, modes: Modes) -> None:
        self._layout = layout
        self._staged = staged
        self._modes = modes
        self._record = record
        self.entry = decode_entry(staged.directory, key, record)
        self._missing = dict(self.entry.files)

    @property
    def missing(self) -> Mapping[str, FileRecord]:
        """The files that were not added yet."""
        return self._missing

    def add(self, name: str, source: Reader) -> None:
        """Copy one file.

        Raises
        ------
        CorruptEntryError
            The record does not name it, or its size or digest is another one.
        """
        if name not in self._missing:
            raise CorruptEntryError(f"entry {self.entry.key[:12]}: {name!r} is not among its files, or comes twice")
        record, path = self._missing.pop(name), self._staged.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x+b") as target:
            _copy(source, target, record.size)
            if target.tell() != record.size or _digest(target) != record.digest:
                raise CorruptEntryError(f"entry {self.entry.key[:12]}: {name!r} is not the file that its record names")
            os.fchmod(target.fileno(), SEALED)
            os.fsync(target.fileno())

    def publish(self) -> Entry:
        """Make the entry visible, its record last; one that is there already stays.

        Raises
        ------
        CorruptEntryError
            A file is missing.
        """
        if self._missing:
            raise CorruptEntryError(f"entry {self.entry.key[:12]} comes without {', '.join(self._missing)}")
        for directory in (Path(top) for top, _, _ in os.walk(self._staged.directory, topdown=False)):
            directory.chmod(self._modes.directory)
            sync(directory)
        write_synced(self._staged.directory / RECORD, self._record, self._modes.file)
        sync(self._staged.directory)
        return publish(self._layout, self._staged, self.entry.key, self._modes, force=False)


@contextmanager
def admitting(layout: Layout, key: str, record: bytes, modes: Modes) -> Iterator[Newcomer]:
    """Give a place for the files of an entry from elsewhere; what is not published is removed.

    Raises
    ------
    CorruptEntryError
        ``record`` is not the record of ``key``.
    """
    with staging(layout, key, modes) as staged:
        yield Newcomer(layout, staged, key, record, modes)


def _copy(source: Reader, target: BinaryIO, size: int) -> None:
    """Copy at most one byte more than ``size``, so that an endless source fills no disk."""
    left = size + 1
    while left and (chunk := source.read(min(left, _CHUNK))):
        target.write(chunk)
        left -= len(chunk)


def _digest(target: BinaryIO) -> str:
    target.seek(0)
    return stream_digest(target)
