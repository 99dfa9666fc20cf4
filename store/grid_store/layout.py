"""Where things lie below a root. Nothing here writes to the disk, and nothing stored holds an absolute path.

::

    <root>/CACHEDIR.TAG
    <root>/v1/objects/ab/<key>/          one entry: its files and record.json
    <root>/v1/actions/ab/<key>.json      input key -> content key
    <root>/v1/names/<name>.json          what a name is bound to; a root of the garbage collection
    <root>/v1/consumers/<project>/<name>.json    the names of another project; roots as well
    <root>/v1/leases/ab/<key>            held open and locked by every process that uses the entry
    <root>/v1/leases/ab/gate             held while one is taken, and by a collection that removes entries
    <root>/v1/locks/ab/<key>.lock        one build at a time
    <root>/v1/tmp/                       staging, and files on their way to one of the places above
    <root>/v1/quarantine/                entries that failed a check
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote

import platformdirs

from grid_store.digest import check_digest, is_digest
from grid_store.errors import StoreError

ENVIRONMENT = "GRID_RBD_CACHE_DIR"
RECORD = "record.json"
AREAS = ("objects", "actions", "names", "consumers", "leases", "locks", "tmp", "quarantine")
_LONGEST_NAME = 240


def default_root() -> Path:
    """Return the root of a store that was given none: ``GRID_RBD_CACHE_DIR``, else the user's cache directory.

    For a user without a home directory that is a relative path, which :func:`~grid_store.usable.check_root` rejects.
    """
    if chosen := os.environ.get(ENVIRONMENT):
        return absolute(chosen)
    try:
        return Path(platformdirs.user_cache_dir("grid-rbd", appauthor=False))
    except RuntimeError:
        return Path("~/.cache/grid-rbd")


def absolute(root: str | Path) -> Path:
    """Return ``root`` as an absolute path with ``~`` expanded; symbolic links stay."""
    return Path(os.path.expanduser(root)).absolute()  # noqa: PTH111 - without a home, Path.expanduser raises


@dataclass(frozen=True)
class Layout:
    """The paths of the store at ``root`` (absolute, may be reached through a symlink)."""

    root: Path

    @cached_property
    def base(self) -> Path:
        """The directory of this version of the layout."""
        return self.root / "v1"

    def area(self, name: str) -> Path:
        """Return one of the directories listed in ``AREAS``."""
        return self.base / name

    def object(self, key: str) -> Path:
        """Return the directory of an entry."""
        return self.base / "objects" / check_digest(key)[:2] / key

    def stored(self) -> list[str]:
        """Return the keys that have a directory, sorted."""
        found = (path.name for path in (self.base / "objects").glob("??/*"))
        return sorted(key for key in found if is_digest(key))

    def action(self, key: str) -> Path:
        """Return the record of an input key."""
        return self.base / "actions" / check_digest(key)[:2] / f"{key}.json"

    def lease(self, key: str) -> Path:
        """Return the file that users of an entry hold locked."""
        return self.base / "leases" / check_digest(key)[:2] / key

    def lock(self, key: str) -> Path:
        """Return the lock of a build."""
        return self.base / "locks" / check_digest(key)[:2] / f"{key}.lock"

    def names(self, consumer: str | None = None) -> Path:
        """Return the directory with the records of names, those of a consumer project if one is given."""
        return self.base / "names" if consumer is None else self.base / "consumers" / _quoted(consumer)

    def name(self, name: str, consumer: str | None = None) -> Path:
        """Return the record of a name.

        Raises
        ------
        StoreError
            The name is empty or too long for a file name, or no Unicode text.
        """
        return self.names(consumer) / f"{_quoted(name)}.json"


def name_of(file: str) -> str:
    """Return the name whose record is the file ``file``, or the consumer whose names lie in that folder."""
    return unquote(file.removesuffix(".json"))


def _quoted(name: str) -> str:
    """Return a name as one part of a path, also where it is ``..``, which quoting leaves as it is."""
    try:
        quoted = quote(name, safe="")
    except UnicodeEncodeError:
        raise StoreError(f"name {name[:40]!r}: a name has no lone surrogates; choose another") from None
    if not quoted or len(quoted) > _LONGEST_NAME:
        raise StoreError(f"name {name[:40]!r}: a name has 1 to {_LONGEST_NAME} characters after percent-encoding")
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")
