"""The store: build once per key, keep what was built, find it again quickly.

The store knows nothing of what it holds. A producer writes files into a directory; what it returns is kept beside them.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from grid_store import actions, names
from grid_store.actions import ActionRecord
from grid_store.entry import Entry, find_entry
from grid_store.errors import (
    CorruptEntryError,
    EntryMissingError,
    GridError,
    StoreError,
    StoreUnavailableError,
    StoreWriteError,
    TierSettingsError,
)
from grid_store.gc import collect, preview
from grid_store.key import Key
from grid_store.layout import AREAS, RECORD, Layout, absolute, default_root
from grid_store.lease import Lease, take_lease
from grid_store.locks import OnWait, build_lock
from grid_store.modes import Modes, ensure_directory
from grid_store.names import Bound
from grid_store.policy import MINIMUM_AGE, Limits
from grid_store.publish import publish, seal
from grid_store.roots import Root, kept_by, roots
from grid_store.scratch import sweep_scratch
from grid_store.size import Usage, usage_below
from grid_store.staging import staging, sweep
from grid_store.temporary import existing_substitute, substitute
from grid_store.tiers.counters import read_counts
from grid_store.usable import check_root, prepare, require_store
from grid_store.verify import Finding, inspect, mend, set_entry_aside

if TYPE_CHECKING:
    from grid_store.archive import Imported
    from grid_store.tiers import Pushed, Tiers

_log = logging.getLogger("grid_rbd.store")
Produce = Callable[[Path], Mapping[str, Any]]
"""Writes the files of an entry into the given directory, returns metadata (JSON values); raises to publish nothing."""
_reported: set[str] = set()
"""What was said about damaged entries; once is enough."""


class Store:
    """The entries below one root.

    Parameters
    ----------
    root : path, optional
        Default, also for ``""``: the environment variable ``GRID_RBD_CACHE_DIR``, else the user's cache directory. The
        directory is made at the first write. If it is writable for its group, the group shares the store; otherwise it
        is private.
    strict : bool
        Raise :class:`StoreUnavailableError` when the root cannot be used, instead of building in a temporary place
        with one warning.
    tiers : Tiers, optional
        Places to look for what is not here, see :meth:`fetch`, and to leave what was built, see :meth:`record`.
    """

    def __init__(self, root: str | Path | None = None, *, strict: bool = False, tiers: Tiers | None = None) -> None:
        self._layout = Layout(absolute(root) if root else default_root())
        self._strict = strict
        self._tiers = tiers

    @property
    def root(self) -> Path:
        """The root directory, which need not exist."""
        return self._layout.root

    def get(self, key: str, *, verify: bool = False, used: bool = True) -> Entry | None:
        """Return the entry of a content key, ``None`` when it must be built. Takes no lock; sizes are checked.

        An entry that is damaged counts as missing, and the log says why. With ``verify``, digests are checked as well,
        so that it is known now rather than when a file is used. ``used=False`` does not count as use.

        Raises
        ------
        UnsafeStoreError
            Others can write to the store, or a symbolic link stands in it.
        """
        for layout in self._readable():
            if entry := _find(layout, key, used=used, verify=verify):
                return entry
        return None

    def obtain(self, key: Key, produce: Produce, *, force: bool = False, on_wait: OnWait | None = None) -> Entry:
        """Return the entry of ``key``, built by ``produce`` if need be; processes that ask at once build once.

        An entry that is damaged, its digests included, goes to quarantine and is built again.

        Parameters
        ----------
        key : Key
            Content key.
        produce : callable
            See :data:`Produce`. Its exceptions pass through, but for an ``OSError`` of the system, which is a write
            that failed.
        force : bool
            Build even if there is an entry; that one goes to quarantine.
        on_wait : callable, optional
            Called with a :class:`~grid_store.locks.Wait` after 5 s of waiting for another builder; default: a log line.

        Raises
        ------
        PublishError
            What was produced must not become an entry.
        StoreWriteError
            The disk is full or failed.
        StoreUnavailableError
            The root cannot be used, and the store is strict.
        """
        if not force and (entry := self.get(key.digest, verify=True)):
            return entry
        layout, modes = self._writable()
        lock = layout.lock(key.digest)
        with _writing(layout):
            ensure_directory(lock.parent, modes)
        with build_lock(lock, modes, on_wait):
            if not force and (entry := _find(layout, key.digest, verify=True)):
                return entry
            return _build(layout, key, produce, modes, force=force)

    def discard(self, key: str) -> bool:
        """Move the entry of ``key`` to quarantine if it is damaged, so that :meth:`obtain` builds it again.

        Every file is read. An entry that holds stays, since another process may have built it again already.

        Returns
        -------
        bool
            Whether there was a damaged entry.

        Raises
        ------
        StoreUnavailableError
            The root cannot be used, and the store is strict.
        """
        layout, modes = self._writable()
        with _writing(layout):
            return set_entry_aside(layout, key, modes)

    def verify(self) -> list[Finding]:
        """Read everything, digests of all files included, and return what is damaged; nothing is changed.

        Raises
        ------
        StoreUnavailableError
            The root cannot be read.
        """
        check_root(self._layout)
        with _reading(self._layout):
            return list(inspect(self._layout))

    def repair(self) -> list[Finding]:
        """Move what :meth:`verify` finds to quarantine, and return it: an entry is built again when it is asked for.

        Raises
        ------
        StoreUnavailableError
            The root cannot be written, or there is no store below it.
        """
        require_store(self._layout, "repair")
        with _writing(self._layout):
            return mend(self._layout, prepare(self._layout))

    def check_writable(self) -> None:
        """Make the root, so that a builder knows beforehand whether its work will be kept.

        Raises
        ------
        StoreUnavailableError
            The root cannot be used, and the store is strict.
        """
        self._writable()

    def record(self, input_key: Key, content: str, **extra: Any) -> None:
        """Record that a request led to ``content`` (the digest of a content key), with more JSON values beside it.

        Tiers that are written to get both.
        """
        layout, modes = self._writable()
        with _writing(layout):
            action = actions.write_action(layout, input_key, content, extra, modes)
            if self._tiers and (entry := _find(layout, content, used=False)):
                self._tiers.share(layout, modes, action, entry)

    def fetch(self, input_key: Key) -> Entry | None:
        """Return the entry that answers a request from the first tier that has it; it then is in this store as well.

        What a tier says is believed if a key signed it that the user trusts, and files are if their digests hold.

        Raises
        ------
        NotInTiersError
            No tier has it, and the user forbids to build what no tier has.
        """
        if self._tiers is None:
            return None
        layout, modes = self._writable()
        with _writing(layout):
            return self._tiers.fetch(layout, modes, input_key.digest)

    @property
    def only_fetches(self) -> bool:
        """Whether the user forbids to build what no tier has."""
        return self._tiers is not None and self._tiers.are_all

    def offers(self, input_keys: Iterable[Key]) -> dict[str, str]:
        """Return which tier would answer a request, by the digest of its key; none does for those left out.

        Nothing is copied, written or counted: it is said what :meth:`fetch` would do.
        """
        wanted = [key.digest for key in input_keys]
        return self._tiers.offers(wanted) if self._tiers and wanted else {}

    def push(self, names: Collection[Bound]) -> dict[str, Pushed]:
        """Leave what names keep in every tier that is written to, and return by URL what became of it.

        What a tier has already is not sent. The rest is signed as if it had been built just now: whoever pushes
        vouches for what the store holds.

        Raises
        ------
        TierSettingsError
            No tier is written to.
        StoreError
            A name is not bound.
        CorruptEntryError
            An entry is damaged.
        """
        if self._tiers is None or not self._tiers.are_written:
            raise TierSettingsError("no tier is written to; 'grid-rbd tiers add URL --write --sign-with NAME' adds one")
        modes = prepare(self._layout)
        with _writing(self._layout):
            entries = {entry.key: entry for entry in self._kept(self._records(names))}
            requests = [(action, entries[action.content]) for action in actions.actions_to(self._layout, entries)]
            return self._tiers.push(self._layout, modes, requests)

    def tier_counts(self) -> dict[str, dict[str, int]]:
        """Return what tiers were good for so far, by URL."""
        return read_counts(self._layout)

    def lookup(self, input_key_digest: str) -> ActionRecord | None:
        """Return what a request led to before; its content may have been collected since."""
        with _reading(self._layout):
            paths = (layout.action(input_key_digest) for layout in self._readable())
            return next((record for path in paths if (record := actions.read_action(path))), None)

    def bind(self, name: str, record: Mapping[str, Any], *, consumer: str | None = None) -> None:
        """Let ``name`` mean ``record`` (JSON values). The digests of keys anywhere in it keep their entries alive.

        Each ``consumer``, a project that keeps things of its own in the store, has names of its own.
        """
        layout, modes = self._writable()
        with _writing(layout):
            names.bind(layout, name, record, modes, consumer)

    def resolve(self, name: str, *, consumer: str | None = None) -> dict[str, Any] | None:
        """Return the record of ``name``: ``None`` when it is not bound, ``{}`` when it is broken; binding mends it."""
        with _reading(self._layout):
            records = (names.resolve(layout, name, consumer) for layout in self._readable())
            return next((record for record in records if record is not None), None)

    def unbind(self, name: str, *, consumer: str | None = None) -> None:
        """Forget ``name``."""
        layout, _ = self._writable()
        with _writing(layout):
            names.unbind(layout, name, consumer)

    def names(self, *, consumer: str | None = None) -> list[str]:
        """Return all bound names, sorted."""
        with _reading(self._layout):
            return sorted({name for layout in self._readable() for name in names.bound_names(layout, consumer)})

    def consumers(self) -> list[str]:
        """Return the consumers that have names, sorted."""
        with _reading(self._layout):
            return sorted({consumer for layout in self._readable() for consumer in names.known_consumers(layout)})

    def entries(self) -> Iterator[Entry]:
        """Yield every readable entry, which does not count as use; the log names damaged ones."""
        for layout in self._readable():
            for key in layout.stored():
                if entry := _find(layout, key, used=False):
                    yield entry

    def usage(self) -> dict[str, Usage]:
        """Return files and bytes by area of the store."""
        check_root(self._layout)
        return {area: usage_below(self._layout.area(area)) for area in AREAS}

    def roots(self) -> list[Root]:
        """Return what keeps entries from collection, sorted.

        Raises
        ------
        CorruptEntryError
            The record of a name or consumer cannot be understood.
        """
        check_root(self._layout)
        with _reading(self._layout):
            return sorted(roots(self._layout), key=lambda root: (root.kind, root.name))

    def lease(self, key: str) -> Lease:
        """Return a lease: while it is held, collection leaves the entry of ``key`` alone.

        Raises
        ------
        EntryMissingError
            The entry is gone; obtain it again.
        """
        layout = next((layout for layout in self._readable() if _exists(layout, key)), self._layout)
        try:
            with _writing(layout):
                lease = take_lease(layout, key, prepare(layout))
        except StoreUnavailableError:
            lease = Lease(key, None)
        if not _exists(layout, key):
            lease.release()
            raise EntryMissingError(f"entry {key[:12]} is not in the store {layout.root}: obtain it again")
        return lease

    def gc(
        self,
        *,
        execute: bool = False,
        objects_days: float | None = None,
        max_bytes: int | None = None,
        minimum_age: float = MINIMUM_AGE,
    ) -> dict[str, Any]:
        """Find, and with ``execute`` remove, what no name, consumer, lease or recent use keeps.

        Parameters
        ----------
        execute : bool
            Remove; otherwise only report.
        objects_days : float, optional
            Entries with the metadata ``"kind": "object"`` go after this many days without use; default: they stay.
        max_bytes : int, optional
            Keep unused entries while the store fits into this size; the least recently used go first. By default every
            unused entry goes.
        minimum_age : float
            Seconds since its last use before an entry may go.

        Returns
        -------
        dict
            ``cache_dir, executed, entries_kept, entries_removed`` (keys)``, entries_bytes, pointers_removed,
            staging_removed, objects_removed, objects_bytes, reasons`` (by key); sizes are bytes.

        Raises
        ------
        StoreUnavailableError
            The root cannot be read or, with ``execute``, there is no store below it, or it cannot be written.
        CorruptEntryError
            The record of a name or consumer cannot be understood, so nothing was removed.
        """
        limits = Limits(objects_days, max_bytes, minimum_age)
        with _writing(self._layout):
            if execute:
                require_store(self._layout, "collect")
                sweep_scratch()
                return collect(self._layout, limits, prepare(self._layout))
            check_root(self._layout)
            return preview(self._layout, limits)

    def export(self, target: BinaryIO, names: Collection[Bound]) -> list[Entry]:
        """Write an archive with names, the entries that they keep, and the requests that lead there.

        Parameters
        ----------
        target : binary file
        names : collection of Bound

        Raises
        ------
        StoreError
            A name is not bound.
        CorruptEntryError
            An entry is damaged.
        """
        from grid_store.archive import write_archive

        records = self._records(names)
        with _reading(self._layout):
            entries = self._kept(records)
            write_archive(self._layout, target, records, entries)
            return entries

    def _records(self, names: Collection[Bound]) -> dict[Bound, dict[str, Any]]:
        records = {bound: self.resolve(bound.name, consumer=bound.consumer) for bound in names}
        if missing := [bound for bound, record in records.items() if not record]:
            raise StoreError(f"nothing is bound to {str(missing[0])!r} in the store {self.root}: names() lists what is")
        return {bound: record for bound, record in records.items() if record}

    def _kept(self, records: Mapping[Bound, Mapping[str, Any]]) -> list[Entry]:
        """Return the entries that records keep, once their digests held; no collection takes what a name keeps."""
        keys = {key for record in records.values() for key in kept_by(self._layout, record)}
        return [entry for key in sorted(keys) if (entry := find_entry(self._layout, key, used=False, verify=True))]

    def take_over(self, source: BinaryIO) -> Imported:
        """Take over the entries and requests of an archive; its names are returned and not bound.

        Every entry is compared with its record and digests first; nothing of the archive is executed.

        Raises
        ------
        ArchiveError
            It is no archive, or has members that none has.
        CorruptEntryError
            An entry is not what its record says.
        StoreUnavailableError
            The root cannot be written.
        """
        from grid_store.archive import read_archive

        with _writing(self._layout):
            return read_archive(self._layout, source, prepare(self._layout))

    def _readable(self) -> Iterator[Layout]:
        try:
            usable = check_root(self._layout) is not None
        except StoreUnavailableError as error:
            usable = False
            self._degrade(error)
        if not self._strict and (temporary := existing_substitute(self._layout)):
            yield temporary
        if usable:
            yield self._layout

    def _writable(self) -> tuple[Layout, Modes]:
        try:
            return self._layout, prepare(self._layout)
        except StoreUnavailableError as error:
            temporary = self._degrade(error)
            return temporary, prepare(temporary)

    def _degrade(self, error: StoreUnavailableError) -> Layout:
        if self._strict:
            raise error
        return substitute(self._layout, error)


def _build(layout: Layout, key: Key, produce: Produce, modes: Modes, *, force: bool) -> Entry:
    with _writing(layout):
        sweep(layout)
    with staging(layout, key.digest, modes) as staged, _writing(layout):
        meta = produce(staged.directory)
        seal(staged.directory, key, meta, modes)
        return publish(layout, staged, key.digest, modes, force=force)


def _find(layout: Layout, key: str, *, used: bool = True, verify: bool = False) -> Entry | None:
    try:
        with _reading(layout):
            return find_entry(layout, key, used=used, verify=verify)
    except CorruptEntryError as error:
        if str(error) not in _reported:
            _reported.add(str(error))
            _log.warning("entry %s is damaged and counts as missing: %s", key[:12], error)
        return None


def _exists(layout: Layout, key: str) -> bool:
    return (layout.object(key) / RECORD).exists()


@contextlib.contextmanager
def _reading(layout: Layout) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"store {layout.root}: {error}; what it holds cannot be read: mend the cause") from error


@contextlib.contextmanager
def _writing(layout: Layout) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, GridError):
            raise
        raise StoreWriteError(
            f"store {layout.root}: {error}; nothing unfinished can be seen: free space or mend the cause and try again,"
            " or choose another folder as cache_dir or GRID_RBD_CACHE_DIR"
        ) from error
