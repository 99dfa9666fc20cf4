"""One tier as a table of requests and a store of files by digest, over fsspec.

::

    <url>/v1/blobs/ab/<digest>        a file of an entry, or the record of one
    <url>/v1/requests/ab/<key>.json   a signed statement
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from grid_store.digest import bytes_digest
from grid_store.errors import CorruptEntryError, TierSettingsError, TierUnavailableError
from grid_store.tiers import patience
from grid_store.tiers.patience import in_time
from grid_store.tiers.settings import READ_ONLY, TierSettings

LARGEST_STATEMENT = 1 << 20
LARGEST_RECORD = 16 << 20
T = TypeVar("T")
_log = logging.getLogger("grid_rbd.store")


class Remote:
    """Reads and writes one tier; every operation ends in time, and all that can go wrong there is one error."""

    def __init__(self, settings: TierSettings) -> None:
        self.settings = settings
        self._opened: tuple[Any, str] | None = None
        self._noticed = False

    def check(self) -> None:
        """Find out whether what this tier needs is installed; the tier itself is not asked.

        Raises
        ------
        TierSettingsError
            Its protocol is unknown, lacks a package, or does not take its options.
        """
        try:
            in_time(self._open, self.settings.timeout, self._notice)
        except TierSettingsError:
            raise
        except Exception as error:
            raise TierSettingsError(
                f"tier {self.settings.url!r} cannot be opened: {error}; mend its URL or options, or install what its "
                "protocol needs: pip install 'grid-rbd[tiers]' has files, s3 and http"
            ) from error

    def is_empty(self) -> bool:
        """Ask the tier whether it has anything; one that is only read is asked whether it answers, and is not empty.

        Raises
        ------
        TierUnavailableError
            It failed, or did not answer in time.
        """
        if urlsplit(self.settings.url).scheme in READ_ONLY:
            self.statement("0" * 64)
            return False
        return not self._within_time(lambda files, root: files.exists(root))

    def statement(self, request: str) -> bytes | None:
        """Return the statement about a request, ``None`` if there is none."""
        return self._read(f"requests/{request[:2]}/{request}.json", LARGEST_STATEMENT)

    def blob(self, digest: str, size: int) -> BytesIO:
        """Return a file of at most ``size`` bytes; whoever copies it compares its digest.

        Raises
        ------
        CorruptEntryError
            The tier has no such file.
        """
        data = self._read(f"blobs/{digest[:2]}/{digest}", size)
        if data is None:
            raise CorruptEntryError(f"the file {digest[:12]} is missing there")
        return BytesIO(data)

    def record(self, digest: str) -> bytes:
        """Return the record of an entry, once its digest held."""
        data = self.blob(digest, LARGEST_RECORD).read()
        if bytes_digest(data) != digest:
            raise CorruptEntryError(f"the file {digest[:12]} has another digest there")
        return data

    def put_blob(self, digest: str, data: bytes) -> int:
        """Leave a file unless it is there in full; return how many bytes were written."""
        path = f"blobs/{digest[:2]}/{digest}"
        if self._size(path) == len(data):
            return 0
        return self._write(path, data)

    def put_statement(self, request: str, data: bytes) -> int:
        """Leave the statement about a request, in place of another."""
        return self._write(f"requests/{request[:2]}/{request}.json", data)

    def _read(self, path: str, size: int) -> bytes | None:
        def read(files: Any, root: str) -> bytes | None:
            try:
                return bytes(files.cat_file(f"{root}/{path}", start=0, end=size + 1))
            except FileNotFoundError:
                return None

        return self._within_time(read)

    def _size(self, path: str) -> int | None:
        def ask(files: Any, root: str) -> int | None:
            try:
                return int(files.info(f"{root}/{path}")["size"])
            except FileNotFoundError:
                return None

        return self._within_time(ask)

    def _write(self, path: str, data: bytes) -> int:
        def write(files: Any, root: str) -> int:
            target = f"{root}/{path}"
            if "file" not in _protocols(files):
                files.pipe_file(target, data)
                return len(data)
            part = f"{target}.{os.urandom(8).hex()}.part"  # a store of objects shows whole ones only, a folder does not
            files.makedirs(target.rpartition("/")[0], exist_ok=True)
            files.pipe_file(part, data)
            Path(part).replace(target)
            return len(data)

        return self._within_time(write)

    def _within_time(self, operation: Callable[[Any, str], T]) -> T:
        try:
            return in_time(lambda: operation(*self._open()), self.settings.timeout, self._notice)
        except (TierUnavailableError, TierSettingsError):
            raise
        except Exception as error:
            raise TierUnavailableError(f"{type(error).__name__}: {error}") from error

    def _notice(self) -> None:
        """Say once that this tier is waited for."""
        if not self._noticed:
            self._noticed = True
            _log.warning(
                "tier %s has not answered for %g s; it is left out after %g s",
                self.settings.url, patience.NOTICE, self.settings.timeout,
            )  # fmt: skip

    def _open(self) -> tuple[Any, str]:
        if self._opened is None:
            try:
                from fsspec.core import url_to_fs
            except ImportError as error:
                raise TierSettingsError(f"tiers need fsspec ({error}); pip install 'grid-rbd[tiers]'") from error
            files, root = url_to_fs(self.settings.url, use_listings_cache=False, **self.settings.options)
            self._opened = files, f"{root.rstrip('/')}/v1"
        return self._opened


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)
