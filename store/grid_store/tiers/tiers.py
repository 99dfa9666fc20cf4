"""The tiers of a user in their order: asked one after the other, the earlier ones filled from the later ones."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING

from grid_store.actions import ActionRecord, keep_action
from grid_store.admit import admitting
from grid_store.digest import file_digest
from grid_store.entry import Entry
from grid_store.errors import (
    CorruptEntryError,
    NotInTiersError,
    RefusedRecordError,
    StoreError,
    TierUnavailableError,
)
from grid_store.layout import RECORD, Layout
from grid_store.modes import Modes
from grid_store.publish import whole_entry
from grid_store.tiers.counters import add_counts
from grid_store.tiers.keyring import Keyring, load_keyring
from grid_store.tiers.remote import Remote
from grid_store.tiers.settings import TiersSettings, load_settings

if TYPE_CHECKING:
    from grid_store.tiers.keys import PublicKey
    from grid_store.tiers.statement import Statement

_log = logging.getLogger("grid_rbd.store")


class Tiers:
    """Finds entries in tiers and leaves them there. A tier that fails is left out for the rest of the process.

    Parameters
    ----------
    settings : TiersSettings
    keyring : callable
        Called without arguments when keys are first needed; returns a :class:`~grid_store.tiers.keyring.Keyring`.
    """

    def __init__(self, settings: TiersSettings, keyring: Callable[[], Keyring]) -> None:
        self._settings = settings
        self._keyring = cache(keyring)
        self._remotes = [Remote(tier) for tier in settings.tiers]
        self._lost: dict[str, str] = {}
        self._guard = threading.Lock()

    def fetch(self, layout: Layout, modes: Modes, request: str) -> Entry | None:
        """Return the entry that answers a request, copied into the store from the first tier that has it.

        Raises
        ------
        NotInTiersError
            No tier has it, and compiling instead is forbidden.
        TierSettingsError
            The user's keys cannot be read.
        """
        keys, reasons = self._keyring(), []
        for number, remote in enumerate(self._remotes):
            try:
                signed, statement, entry = self._from_one(remote, layout, modes, request, keys.trusted)
            except (RefusedRecordError, CorruptEntryError, TierUnavailableError, LookupError) as error:
                reasons.append(f"{remote.settings.url}: {error}")
                continue
            for earlier in self._remotes[:number]:
                if remote.settings.verify or not earlier.settings.verify:
                    self._leave(earlier, layout, modes, signed, statement, entry)
            return entry
        if not self._settings.fallback:
            raise NotInTiersError(
                f"request {request[:12]} is answered by no tier, and compiling it here is forbidden: "
                f"{'; '.join(reasons)}; 'grid-rbd tiers fallback on' allows it"
            )
        return None

    def share(self, layout: Layout, modes: Modes, action: ActionRecord, entry: Entry) -> None:
        """Leave an entry that was built here in every tier that is written to, signed with the user's key."""
        from grid_store.tiers.statement import Statement, write_statement

        if not any(remote.settings.write for remote in self._remotes):
            return
        statement = Statement(action, _record_digest(entry))
        signed = write_statement(statement, self._keyring().signing)
        for remote in self._remotes:
            self._leave(remote, layout, modes, signed, statement, entry)

    def _from_one(
        self, remote: Remote, layout: Layout, modes: Modes, request: str, trusted: Sequence[PublicKey]
    ) -> tuple[bytes, Statement, Entry]:
        from grid_store.tiers.statement import read_statement

        with self._counted(remote, layout, modes) as counts:
            data = remote.statement(request)
            if data is None:
                counts["misses"] += 1
                raise LookupError("it has no record of the request")
            verify = remote.settings.verify
            statement = read_statement(data, request, trusted, verify=verify)
            entry, size = _copied(remote, layout, modes, statement)
            counts.update(hits=1, bytes_read=size)
        return data, statement, entry

    def _leave(
        self, remote: Remote, layout: Layout, modes: Modes, signed: bytes, statement: Statement, entry: Entry
    ) -> None:
        """Leave an entry in a tier that is written to: its files, then its record, then the statement as it was signed.

        A copy that was here before, and is not the one that the statement is about, is not left.
        """
        if not remote.settings.write or _record_digest(entry) != statement.record:
            return
        try:
            with self._counted(remote, layout, modes) as counts:
                written = sum(
                    remote.put_blob(file.digest, entry.verified(name).read_bytes())
                    for name, file in entry.files.items()
                )
                written += remote.put_blob(statement.record, (entry.directory / RECORD).read_bytes())
                written += remote.put_statement(statement.action.input, signed)
                counts.update(written=1, bytes_written=written)
        except (TierUnavailableError, StoreError):
            return  # it was told, and what was built is here

    @contextmanager
    def _counted(self, remote: Remote, layout: Layout, modes: Modes) -> Iterator[Counter[str]]:
        """Count what a tier did; say why it was no help, and ask one that failed no more."""
        url, counts = remote.settings.url, Counter[str]()
        if url in self._lost:
            raise TierUnavailableError(self._lost[url])
        try:
            yield counts
        except (RefusedRecordError, CorruptEntryError) as error:
            counts["refused"] += 1
            _log.warning("tier %s: a record was refused: %s; what no other tier has is built here", url, error)
            raise
        except TierUnavailableError as error:
            counts["failed"] += 1
            with self._guard:
                if url not in self._lost:
                    self._lost[url] = str(error)
                    _log.warning("tier %s is left out: %s; what no other tier has is built here", url, error)
            raise
        finally:
            add_counts(layout, modes, url, counts)


def configured_tiers() -> Tiers | None:
    """Return the tiers of the user's configuration, ``None`` if there are none.

    Raises
    ------
    TierSettingsError
        The configuration is broken.
    """
    settings = load_settings()
    return Tiers(settings, partial(load_keyring, settings)) if settings.tiers else None


def _copied(remote: Remote, layout: Layout, modes: Modes, statement: Statement) -> tuple[Entry, int]:
    """Copy the entry of a statement into the store unless it is there; return it with the bytes that came."""
    if here := whole_entry(layout, statement.action.content):
        keep_action(layout, statement.action, modes)
        return here, 0
    record = remote.record(statement.record)
    with admitting(layout, statement.action.content, record, modes) as newcomer:
        for name, file in list(newcomer.missing.items()):
            newcomer.add(name, remote.blob(file.digest, file.size))
        entry = newcomer.publish()
    keep_action(layout, statement.action, modes)
    return entry, len(record) + entry.size


def _record_digest(entry: Entry) -> str:
    return file_digest(entry.directory / RECORD)
