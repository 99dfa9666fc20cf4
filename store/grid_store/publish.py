"""Publishing: check what was produced, seal it, and make it visible in one rename."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grid_store.atomic import sync, write_synced
from grid_store.digest import stream_digest
from grid_store.entry import Entry, FileRecord, decode_entry, encode_entry, find_entry
from grid_store.errors import CorruptEntryError, PublishError
from grid_store.key import Key
from grid_store.layout import RECORD, Layout
from grid_store.modes import SEALED, Modes, ensure_directory
from grid_store.sealed import seal_text
from grid_store.staging import Staged

_COLLISION = {errno.EEXIST, errno.ENOTEMPTY}
_ATTEMPTS = 5


def seal(staged: Path, key: Key, meta: Mapping[str, Any], modes: Modes) -> None:
    """Flush the files in ``staged``, make them read-only, and write their record last.

    Raises
    ------
    PublishError
        There is no file, an empty one, a link or another special file, metadata that JSON cannot hold, or an input file
        of the key that is no longer what was hashed.
    """
    files = {path.relative_to(staged).as_posix(): _seal_file(path) for path in sorted(_walk(staged))}
    if not files:
        raise PublishError(f"nothing was produced for {key!r}: write at least one file into the given directory")
    if changed := key.changed_files():
        raise PublishError(f"{', '.join(map(str, changed))} changed while {key!r} was built: build again")
    record = seal_text(encode_entry(key.digest, key.components, files, dict(meta)), f"metadata of {key!r}")
    for directory in (Path(top) for top, _, _ in os.walk(staged, topdown=False)):
        directory.chmod(modes.directory)
        sync(directory)
    write_synced(staged / RECORD, record, modes.file)
    sync(staged)


def publish(layout: Layout, staged: Staged, key: str, modes: Modes, *, force: bool) -> Entry:
    """Rename a sealed directory to the place of its key and return the entry there.

    An entry that is already there wins if it is whole and ``force`` is not set; otherwise it goes to quarantine.
    A place that stays taken by something that this process cannot see leaves it with its own staged entry.
    """
    target = layout.object(key)
    ensure_directory(target.parent, modes)
    entry = decode_entry(staged.directory, key, (staged.directory / RECORD).read_bytes())
    for _ in range(_ATTEMPTS):
        if _rename(staged.directory, target):
            sync(target.parent)
            return replace(entry, directory=target)
        if not force and (winner := whole_entry(layout, key)):
            return winner
        quarantine(layout, key)
    staged.kept = True
    return entry


def quarantine(layout: Layout, key: str) -> Path | None:
    """Move the entry of ``key`` out of reach of readers; return where it is now, ``None`` if there was none."""
    aside = layout.area("quarantine") / f"{key}.{os.urandom(4).hex()}"
    try:
        layout.object(key).rename(aside)
    except FileNotFoundError:
        return None
    return aside


def whole_entry(layout: Layout, key: str) -> Entry | None:
    """Return the entry of ``key`` if it is there and all of its digests hold."""
    with contextlib.suppress(CorruptEntryError):
        return find_entry(layout, key, verify=True)
    return None


def _rename(staged: Path, target: Path) -> bool:
    try:
        staged.rename(target)
    except OSError as error:
        if error.errno in _COLLISION:
            return False
        raise
    return True


def _walk(staged: Path) -> Iterator[Path]:
    for directory, subdirectories, names in os.walk(staged, onerror=_raise):
        for name in [*names, *(sub for sub in subdirectories if Path(directory, sub).is_symlink())]:
            yield Path(directory, name)


def _raise(error: OSError) -> None:
    raise error


def _seal_file(path: Path) -> FileRecord:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise PublishError(f"{path.name}: an entry holds regular files only, no links: copy the content instead")
    if path.name == RECORD:
        raise PublishError(f"{RECORD} is the store's own file: choose another name")
    if status.st_size == 0:
        raise PublishError(f"{path.name} is empty: the step that makes it failed without saying so; see its log")
    with path.open("rb") as stream:
        digest = stream_digest(stream)
        os.fchmod(stream.fileno(), SEALED)
        os.fsync(stream.fileno())
    return FileRecord(status.st_size, digest)
