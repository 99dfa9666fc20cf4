"""The tiers of a user in their order: asked one after the other, the earlier ones filled from the later ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
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
from grid_store.tiers.attempts import Attempts
from grid_store.tiers.keyring import Keyring, load_keyring
from grid_store.tiers.remote import Remote
from grid_store.tiers.settings import TiersSettings, load_settings

if TYPE_CHECKING:
    from grid_store.tiers.keys import PublicKey
    from grid_store.tiers.statement import Statement

AT_ONCE = 8
"""Requests that are asked about, or pushed, at the same time."""


@dataclass
class Pushed:
    """What became of requests that were pushed to a tier.

    Attributes
    ----------
    written, present, failed : int
        How many are new there, were there before, and could not be left.
    reason : str
        Why one of the last could not.
    """

    written: int = 0
    present: int = 0
    failed: int = 0
    reason: str = ""


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
        self._written = [remote for remote in self._remotes if remote.settings.write]
        self._attempts = Attempts(fallback=settings.fallback)

    @property
    def are_written(self) -> bool:
        """Whether what is built here is left in one of them."""
        return bool(self._written)

    @property
    def are_all(self) -> bool:
        """Whether it is forbidden to compile what none of them has."""
        return not self._settings.fallback

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
            if _record_digest(entry) == statement.record:  # not a copy that was here before
                for earlier in self._remotes[:number]:
                    if earlier.settings.write and (remote.settings.verify or not earlier.settings.verify):
                        self._leave_or_tell(earlier, layout, modes, signed, statement, entry)
            return entry
        if not self._settings.fallback:
            raise NotInTiersError(
                f"request {request[:12]} is answered by no tier, and compiling it here is forbidden: "
                f"{'; '.join(reasons)}; 'grid-rbd tiers fallback on' allows it"
            )
        return None

    def offers(self, requests: Sequence[str]) -> dict[str, str]:
        """Return the tier that would answer each request, by URL; requests that none answers are left out.

        Records are believed as :meth:`fetch` does; the files that they lead to are not looked at, and nothing is
        counted.

        Raises
        ------
        TierSettingsError
            The user's keys cannot be read.
        """
        trusted = self._keyring().trusted

        def ask(request: str) -> str:
            answers = (r.settings.url for r in self._remotes if self._believed(r, request, trusted))
            return next(answers, "")

        with ThreadPoolExecutor(AT_ONCE) as asking:
            return {request: url for request, url in zip(requests, asking.map(ask, requests)) if url}

    def share(self, layout: Layout, modes: Modes, action: ActionRecord, entry: Entry) -> None:
        """Leave an entry that was built here in every tier that is written to, signed with the user's key."""
        if self._written:
            statement, signed = self._signed(action, entry)
            for remote in self._written:
                self._leave_or_tell(remote, layout, modes, signed, statement, entry)

    def push(self, layout: Layout, modes: Modes, requests: Iterable[tuple[ActionRecord, Entry]]) -> dict[str, Pushed]:
        """Leave entries in every tier that is written to, unless it answers their requests already.

        Raises
        ------
        TierSettingsError
            The user's keys cannot be read.
        """
        report = {remote.settings.url: Pushed() for remote in self._written}
        self._keyring()

        def push(request: tuple[ActionRecord, Entry]) -> list[int | str]:
            return [self._pushed(remote, layout, modes, *request) for remote in self._written]

        with ThreadPoolExecutor(AT_ONCE) as pushing:
            for outcomes in pushing.map(push, requests):
                for pushed, outcome in zip(report.values(), outcomes):
                    _add(pushed, outcome)
        return report

    def _pushed(self, remote: Remote, layout: Layout, modes: Modes, action: ActionRecord, entry: Entry) -> int | str:
        """Return how many bytes a tier lacked of an entry, or why it cannot have them."""
        statement, signed = self._signed(action, entry)
        there = self._believed(remote, action.input, self._keyring().trusted)
        if there and there.record != statement.record:
            return 0
        try:
            return self._leave(remote, layout, modes, None if there else signed, statement, entry)
        except (TierUnavailableError, StoreError) as error:
            return str(error)

    def _signed(self, action: ActionRecord, entry: Entry) -> tuple[Statement, bytes]:
        from grid_store.tiers.statement import Statement, write_statement

        statement = Statement(action, _record_digest(entry))
        return statement, write_statement(statement, self._keyring().signing)

    def _believed(self, remote: Remote, request: str, trusted: Sequence[PublicKey]) -> Statement | None:
        """Return what a tier says about a request, ``None`` if it says nothing or is not believed."""
        from grid_store.tiers.statement import read_statement

        with suppress(RefusedRecordError, TierUnavailableError), self._attempts.told(remote):
            if (data := remote.statement(request)) is not None:
                return read_statement(data, request, trusted, verify=remote.settings.verify)
        return None

    def _from_one(
        self, remote: Remote, layout: Layout, modes: Modes, request: str, trusted: Sequence[PublicKey]
    ) -> tuple[bytes, Statement, Entry]:
        from grid_store.tiers.statement import read_statement

        with self._attempts.counted(remote, layout, modes) as counts:
            data = remote.statement(request)
            if data is None:
                counts["misses"] += 1
                raise LookupError("it has no record of the request")
            statement = read_statement(data, request, trusted, verify=remote.settings.verify)
            entry, size = _copied(remote, layout, modes, statement)
            counts.update(hits=1, bytes_read=size)
        return data, statement, entry

    def _leave_or_tell(
        self, remote: Remote, layout: Layout, modes: Modes, signed: bytes, statement: Statement, entry: Entry
    ) -> None:
        """Leave an entry in a tier; one that takes nothing costs no build, which is here."""
        with suppress(TierUnavailableError, StoreError):
            self._leave(remote, layout, modes, signed, statement, entry)

    def _leave(
        self, remote: Remote, layout: Layout, modes: Modes, signed: bytes | None, statement: Statement, entry: Entry
    ) -> int:
        """Leave an entry in a tier: its files, then its record, then the statement as it was signed if it is not there.

        Returns
        -------
        int
            The bytes that were written.
        """
        with self._attempts.counted(remote, layout, modes) as counts:
            written = sum(
                remote.put_blob(file.digest, entry.verified(name).read_bytes()) for name, file in entry.files.items()
            )
            written += remote.put_blob(statement.record, (entry.directory / RECORD).read_bytes())
            written += remote.put_statement(statement.action.input, signed) if signed else 0
            counts.update(written=min(written, 1), bytes_written=written)
        return written


def configured_tiers() -> Tiers | None:
    """Return the tiers of the user's configuration, ``None`` if there are none.

    Raises
    ------
    TierSettingsError
        The configuration is broken.
    """
    settings = load_settings()
    return Tiers(settings, partial(load_keyring, settings)) if settings.tiers else None


def _add(pushed: Pushed, outcome: int | str) -> None:
    """Count the bytes that a tier lacked, or the reason why it cannot have them."""
    if isinstance(outcome, str):
        pushed.failed += 1
        pushed.reason = outcome
    elif outcome:
        pushed.written += 1
    else:
        pushed.present += 1


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
