"""Archives: names with all entries and requests that belong to them, in one file that needs nothing else.

A tar file, compressed with gzip::

    grid-store.json              {"archive": 1}
    names/<name>.json            the records of names
    consumers/<project>/<name>.json    those of consumers
    actions/<key>.json           requests that lead to the entries
    objects/<key>/record.json    an entry: first its record, then its files
    objects/<key>/robot.so
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO

from grid_store.actions import ActionRecord, actions_to, decode_action, encode_action, keep_action
from grid_store.admit import admitting
from grid_store.atomic import decode, encode
from grid_store.digest import is_digest
from grid_store.entry import Entry, find_entry
from grid_store.errors import ArchiveError
from grid_store.layout import RECORD, Layout, name_of
from grid_store.modes import Modes
from grid_store.names import Bound
from grid_store.publish import whole_entry

HEADER = "grid-store.json"
_FORMAT = {"archive": 1}
_LARGEST_RECORD = 16 << 20
_CHUNK = 1 << 20
_UNREADABLE = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile)
Members = Iterable[tarfile.TarInfo]


@dataclass
class Imported:
    """What an archive brought.

    Attributes
    ----------
    entries : list of str
        Keys of entries that are new in the store.
    present : list of str
        Keys of entries that were there already.
    actions : int
        How many requests became known.
    names : dict of Bound to dict
        The records of names; nothing is bound to them yet.
    """

    entries: list[str] = field(default_factory=list)
    present: list[str] = field(default_factory=list)
    actions: int = 0
    names: dict[Bound, dict[str, Any]] = field(default_factory=dict)


def write_archive(
    layout: Layout, target: BinaryIO, names: Mapping[Bound, Mapping[str, Any]], entries: Sequence[Entry]
) -> None:
    """Write names, entries, and the requests that lead to them."""
    with tarfile.open(fileobj=target, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, HEADER, encode(_FORMAT, "the header"))
        for bound, record in names.items():
            place = layout.name(*bound).relative_to(layout.base)
            _add(archive, place.as_posix(), encode(dict(record), f"the record of {str(bound)!r}"))
        for action in actions_to(layout, {entry.key for entry in entries}):
            _add(archive, f"actions/{action.input}.json", encode_action(action))
        for entry in entries:
            for name in (RECORD, *entry.files):
                _add(archive, f"objects/{entry.key}/{name}", (entry.directory / name).read_bytes())


def read_archive(layout: Layout, source: BinaryIO, modes: Modes) -> Imported:
    """Take the entries of an archive over, each after its record and every digest held.

    Raises
    ------
    ArchiveError
        It is no archive, or has members that none has.
    CorruptEntryError
        An entry is not what its record says; those before it were taken over.
    """
    try:
        with tarfile.open(fileobj=source, mode="r:gz") as archive:
            return _Reading(layout, modes, archive).all()
    except _UNREADABLE as error:
        raise ArchiveError(f"it is cut, damaged or no archive of a store ({error}): export it again") from error


class _Reading:
    """Reads an archive from front to back; nothing of it is written before it was checked."""

    def __init__(self, layout: Layout, modes: Modes, archive: tarfile.TarFile) -> None:
        self._layout = layout
        self._modes = modes
        self._archive = archive
        self._found = Imported()

    def all(self) -> Imported:
        members = iter(self._archive)
        if (first := next(members, None)) is None or first.name != HEADER or self._json(first) != _FORMAT:
            raise ArchiveError("it is no archive of a store, or one of another version: export it again")
        actions = []
        for (area, item), group in groupby(members, _place):
            if area == "objects":
                self._entry(item, group)
            elif area == "actions":
                actions += [self._action(item, member) for member in group]
            else:
                self._found.names |= {_bound(member): self._json(member) for member in group}
        self._read_to_the_end()
        self._keep(actions)
        return self._found

    def _read_to_the_end(self) -> None:
        """Let gzip compare its checksum: names have no digest of their own."""
        assert self._archive.fileobj is not None
        while self._archive.fileobj.read(_CHUNK):
            pass

    def _entry(self, key: str, members: Iterator[tarfile.TarInfo]) -> None:
        first = next(members)
        if _file(first) != RECORD:
            raise ArchiveError(f"{first.name} comes before its record")
        if whole_entry(self._layout, key):
            self._found.present.append(key)
            return
        with admitting(self._layout, key, self._small(first), self._modes) as newcomer:
            for member in members:
                newcomer.add(_file(member), self._stream(member))
            newcomer.publish()
        self._found.entries.append(key)

    def _action(self, key: str, member: tarfile.TarInfo) -> ActionRecord:
        record = decode_action(key, self._small(member))
        if record is None:
            raise ArchiveError(f"{member.name} is not the record of a request")
        return record

    def _keep(self, actions: list[ActionRecord]) -> None:
        """Keep the requests that lead to what the store has now."""
        for action in actions:
            if find_entry(self._layout, action.content, used=False):
                keep_action(self._layout, action, self._modes)
                self._found.actions += 1

    def _json(self, member: tarfile.TarInfo) -> dict[str, Any]:
        try:
            return dict(decode(self._small(member)))
        except (ValueError, TypeError) as error:
            raise ArchiveError(f"{member.name} is no JSON object: {error}") from error

    def _small(self, member: tarfile.TarInfo) -> bytes:
        if member.size > _LARGEST_RECORD:
            raise ArchiveError(f"{member.name} has {member.size} bytes, more than any record")
        return self._stream(member).read()

    def _stream(self, member: tarfile.TarInfo) -> IO[bytes]:
        stream = self._archive.extractfile(member) if member.isreg() else None
        if stream is None:
            raise ArchiveError(f"{member.name} is no regular file")
        return stream


def _place(member: tarfile.TarInfo) -> tuple[str, str]:
    """Return area and item of a member; a path that leads anywhere else is refused."""
    path = PurePosixPath(member.name)
    area, item = (*path.parts, "", "")[:2]
    fits = {
        "names": len(path.parts) == 2 and item.endswith(".json"),
        "consumers": len(path.parts) == 3 and path.name.endswith(".json") and ".." not in path.parts,
        "actions": len(path.parts) == 2 and item.endswith(".json") and is_digest(path.stem),
        "objects": len(path.parts) > 2 and is_digest(item) and ".." not in path.parts,
    }
    if member.name != str(path) or not fits.get(area, False):
        raise ArchiveError(f"{member.name!r} is no path that an archive of a store has")
    return area, path.stem if area == "actions" else item


def _bound(member: tarfile.TarInfo) -> Bound:
    """Return the name whose record a member is."""
    area, *consumer, file = PurePosixPath(member.name).parts
    return Bound(name_of(file), name_of(consumer[0]) if area == "consumers" else None)


def _file(member: tarfile.TarInfo) -> str:
    """Return the name of a file within its entry."""
    return "/".join(PurePosixPath(member.name).parts[2:])


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o644
    archive.addfile(member, io.BytesIO(data))
