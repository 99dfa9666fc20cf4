"""Attempts to use tiers: what became of them is told and counted, and a tier that failed is asked no more."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from grid_store.errors import CorruptEntryError, RefusedRecordError, TierUnavailableError
from grid_store.layout import Layout
from grid_store.modes import Modes
from grid_store.tiers.counters import add_counts
from grid_store.tiers.remote import Remote

_log = logging.getLogger("grid_rbd.store")


class Attempts:
    """What this process tried with its tiers.

    Parameters
    ----------
    fallback : bool
        Whether what no tier has is built here, which is told together with a failure.
    """

    def __init__(self, *, fallback: bool) -> None:
        self._consequence = f"what no other tier has is {'built here' if fallback else 'an error'}"
        self._lost: dict[str, str] = {}
        self._guard = threading.Lock()

    @contextmanager
    def told(self, remote: Remote) -> Iterator[None]:
        """Say why a tier is no help, and refuse one that failed before."""
        url = remote.settings.url
        if url in self._lost:
            raise TierUnavailableError(self._lost[url])
        try:
            yield
        except (RefusedRecordError, CorruptEntryError) as error:
            _log.warning("tier %s: a record was refused: %s; %s", url, error, self._consequence)
            raise
        except TierUnavailableError as error:
            with self._guard:
                if url not in self._lost:
                    self._lost[url] = str(error)
                    _log.warning("tier %s is left out: %s; %s", url, error, self._consequence)
            raise

    @contextmanager
    def counted(self, remote: Remote, layout: Layout, modes: Modes) -> Iterator[Counter[str]]:
        """As :meth:`told`, and add what happened to the counts of the store."""
        counts = Counter[str]()
        with self.told(remote):
            try:
                yield counts
            except (RefusedRecordError, CorruptEntryError):
                counts["refused"] += 1
                raise
            except TierUnavailableError:
                counts["failed"] += 1
                raise
            finally:
                add_counts(layout, modes, remote.settings.url, counts)
