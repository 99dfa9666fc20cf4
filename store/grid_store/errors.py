"""The root of every error that the project raises, and the store's own branch of the tree."""

from __future__ import annotations


class GridError(Exception):
    """Root of all errors of grid-rbd. The message names the item, the rule and what to do next."""


class StoreError(GridError, RuntimeError):
    """The store cannot serve or keep an entry."""


class KeyComponentError(StoreError, ValueError):
    """A key, or one component of a key, cannot be hashed the same way everywhere."""


class UnsafeStoreError(StoreError):
    """A path of the store can be changed by someone else; it is neither read nor written."""


class StoreUnavailableError(StoreError):
    """The root cannot be read or written; a store that is not strict builds in a temporary place instead."""


class PublishError(StoreError):
    """What was produced must not be kept: nothing, an empty file, a link, no JSON, or made from inputs that changed."""


class StoreWriteError(StoreError):
    """The operating system refused a write, such as on a full disk; nothing was published."""


class CorruptEntryError(StoreError):
    """A stored file does not have the recorded size or digest."""


class ArchiveError(StoreError):
    """A file is not an archive of a store, or holds what none may hold."""


class TierSettingsError(StoreError, ValueError):
    """The user's tiers or keys cannot be as they are."""


class TierUnavailableError(StoreError):
    """A tier failed, or did not answer in time."""


class RefusedRecordError(StoreError):
    """The record of a tier is not believed; the message names the key that signed it."""


class NotInTiersError(StoreError):
    """No tier has what is asked for, and it must not be built here."""


class EntryMissingError(StoreError, KeyError):
    """No readable entry has this key."""

    def __str__(self) -> str:
        return str(self.args[0])


class StoreDegradedWarning(UserWarning):
    """The root cannot be used; builds of this process go to a temporary place and are lost at exit."""
