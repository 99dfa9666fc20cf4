"""Entries: a directory of files and the record that names their sizes and digests."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import Any

from grid_store.digest import stream_digest
from grid_store.errors import CorruptEntryError, StoreError, UnsafeStoreError
from grid_store.key import combine
from grid_store.layout import RECORD, Layout
from grid_store.modes import refuse_symlink
from grid_store.sealed import unseal

SCHEMA = 2
_TOUCH_AFTER = 600.0
"""Seconds after which a read updates the time of last use again."""
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_ESTALE_ATTEMPTS = 3
_held: dict[str, set[tuple[int, ...]]] = {}
"""By digest, the identities of the files that had it when this process looked."""


@dataclass(frozen=True)
class FileRecord:
    """Size in bytes and SHA-256 of one file of an entry."""

    size: int
    digest: str


@dataclass(frozen=True)
class Entry:
    """What one key leads to.

    Attributes
    ----------
    key : str
        Digest of the content key.
    directory : Path
        Where the files are.
    components : mapping of str to str
        The components of the key with their digests, as recorded at the build.
    files : mapping of str to FileRecord
        By name relative to the directory, with ``/`` between parts.
    meta : dict
        What the producer returned.
    created : float
        Seconds since the epoch, by the clock of the builder.
    """

    key: str
    directory: Path
    components: Mapping[str, str]
    files: Mapping[str, FileRecord]
    meta: dict[str, Any]
    created: float

    @property
    def size(self) -> int:
        """Bytes of all files, the record left out."""
        return sum(file.size for file in self.files.values())

    def path(self, name: str) -> Path:
        """Return where the file ``name`` is; its size was checked when the entry was opened.

        Raises
        ------
        StoreError
            The entry has no such file.
        """
        if name not in self.files:
            near = difflib.get_close_matches(name, self.files, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(self.files)}"
            raise StoreError(f"entry {self.key[:12]} has no file {name!r}{hint}")
        return self.directory / name

    def verified(self, name: str) -> Path:
        """Return where the file ``name`` is, once its digest held; a process reads the file at the first call only.

        Raises
        ------
        CorruptEntryError
            Size or digest differ from the record.
        StoreError
            The entry has no such file.
        """
        path = self.path(name)
        try:
            _check_content(path, self.files[name])
        except CorruptEntryError as error:
            raise CorruptEntryError(f"{error}: build it again, which moves the damaged entry to quarantine") from error
        return path


def find_entry(layout: Layout, key: str, *, used: bool = True, verify: bool = False) -> Entry | None:
    """Return the entry of ``key``, or ``None``; takes no lock. Sizes are checked, with ``verify`` also digests.

    ``used`` notes the time of use.

    Raises
    ------
    CorruptEntryError
        The record cannot be understood, or a file is missing or not what was stored.
    UnsafeStoreError
        A symbolic link stands at the path of the entry or of one of its files.
    """
    directory = layout.object(key)
    try:
        refuse_symlink(directory.parent)
        refuse_symlink(directory)
        data = _read_record(directory / RECORD, used=used)
    except (FileNotFoundError, NotADirectoryError):
        return None
    entry = decode_entry(directory, key, data)
    for name, record in entry.files.items():
        _check_size(directory / name, record.size)
        if verify:
            _check_content(directory / name, record)
    return entry


def reread(entry: Entry) -> None:
    """Read every file of an entry, also those that this process has read before.

    Raises
    ------
    CorruptEntryError
        A file is not what was stored.
    """
    for name, record in entry.files.items():
        _held.pop(record.digest, None)
        _check_content(entry.directory / name, record)


def strangers(entry: Entry) -> list[str]:
    """Return the files in the directory of an entry that its record does not name, sorted."""
    found = (path for path in entry.directory.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted({path.relative_to(entry.directory).as_posix() for path in found} - {*entry.files, RECORD})


def encode_entry(key: str, components: Mapping[str, str], files: Mapping[str, FileRecord], meta: Any) -> dict[str, Any]:
    """Return the record of an entry as JSON values."""
    return {
        "schema": SCHEMA,
        "key": key,
        "created": time.time(),
        "components": dict(components),
        "files": {name: {"size": file.size, "sha256": file.digest} for name, file in files.items()},
        "meta": meta,
    }


def decode_entry(directory: Path, key: str, data: bytes) -> Entry:
    """Return the entry whose record has the text ``data``.

    Raises
    ------
    CorruptEntryError
        The record cannot be understood or belongs to another key.
    """
    try:
        record = unseal(data)
        if record["schema"] != SCHEMA or record["key"] != key:
            raise ValueError(f"schema {record['schema']}, key {record['key']}")
        if combine(record["components"]) != key:
            raise ValueError("its components make another key")
        files = {_inside(name): FileRecord(int(f["size"]), str(f["sha256"])) for name, f in record["files"].items()}
        return Entry(key, directory, record["components"], files, dict(record["meta"]), float(record["created"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptEntryError(f"{directory / RECORD} is not a record of this entry ({error})") from error


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or name != str(path):
        raise ValueError(f"file name {name!r} leaves the entry")
    return name


def _read_record(path: Path, *, used: bool) -> bytes:
    for _ in range(_ESTALE_ATTEMPTS):
        try:
            with open(_open_inside(path), "rb", buffering=0) as stream:
                if used:
                    _touch(path, os.fstat(stream.fileno()).st_mtime)
                return stream.read()
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
    raise FileNotFoundError(errno.ENOENT, "vanished while it was opened", str(path))


def _open_inside(path: Path) -> int:
    try:
        return os.open(path, _READ)
    except OSError as error:
        if error.errno == errno.ELOOP:
            refuse_symlink(path)
        raise


def _touch(path: Path, last_used: float) -> None:
    """Note the use of an entry for the garbage collection; a store that cannot be written stays as it is."""
    if not 0 <= time.time() - last_used < _TOUCH_AFTER:
        with contextlib.suppress(OSError):
            os.utime(path)


def _check_size(path: Path, size: int) -> None:
    try:
        status = path.lstat()
    except OSError as error:
        raise CorruptEntryError(f"{path} cannot be read ({error.strerror})") from error
    if stat.S_ISLNK(status.st_mode):
        raise UnsafeStoreError(f"{path} is a symbolic link; nothing in a store may be one: remove the entry")
    if status.st_size != size:
        raise CorruptEntryError(f"{path} has {status.st_size} bytes instead of {size}")


def _check_content(path: Path, record: FileRecord) -> None:
    try:
        with open(_open_inside(path), "rb", buffering=0) as stream:
            holds = _holds(stream, record)
    except OSError as error:
        raise CorruptEntryError(f"{path} cannot be read ({error.strerror})") from error
    if not holds:
        raise CorruptEntryError(f"{path} is not the file that was stored")


def _holds(stream: FileIO, record: FileRecord) -> bool:
    """Return whether an open file is what was recorded, from memory if this process looked before."""
    status = os.fstat(stream.fileno())
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if identity in _held.get(record.digest, ()):
        return True
    holds = status.st_size == record.size and stream_digest(stream) == record.digest
    if holds:
        _held.setdefault(record.digest, set()).add(identity)
    return holds
