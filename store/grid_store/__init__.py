"""A store of built things: found by what they were made from, built once, verified before use, collected when unused.

It knows nothing of what it holds::

    store = Store()
    entry = store.obtain(Key({"source": source, "flags": flags}), produce)
    library = entry.verified("robot.so")
"""

from __future__ import annotations

from grid_store.actions import ActionRecord
from grid_store.entry import Entry, FileRecord
from grid_store.errors import (
    ArchiveError,
    CorruptEntryError,
    EntryMissingError,
    GridError,
    KeyComponentError,
    NotInTiersError,
    PublishError,
    RefusedRecordError,
    StoreDegradedWarning,
    StoreError,
    StoreUnavailableError,
    StoreWriteError,
    TierSettingsError,
    TierUnavailableError,
    UnsafeStoreError,
)
from grid_store.key import Difference, Key, differences
from grid_store.lease import Lease
from grid_store.locks import Wait
from grid_store.names import Bound
from grid_store.scratch import Scratch
from grid_store.store import Store
from grid_store.verify import Finding

__all__ = [
    "ActionRecord",
    "ArchiveError",
    "Bound",
    "CorruptEntryError",
    "Difference",
    "Entry",
    "EntryMissingError",
    "FileRecord",
    "Finding",
    "GridError",
    "Key",
    "KeyComponentError",
    "Lease",
    "NotInTiersError",
    "PublishError",
    "RefusedRecordError",
    "Scratch",
    "Store",
    "StoreDegradedWarning",
    "StoreError",
    "StoreUnavailableError",
    "StoreWriteError",
    "TierSettingsError",
    "TierUnavailableError",
    "UnsafeStoreError",
    "Wait",
    "differences",
]
