"""What a build of a consumer's sources leads to, and the promise that it stays while this process lives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid_core.build.header import HEADER
from grid_core.toolchains.architectures import architectures_of, is_cuda
from grid_store import Entry, Lease, Store

_leases: dict[Path, Lease] = {}
"""Of every artifact that this process got, by folder: only the caller knows when its library is loaded."""


@dataclass(frozen=True)
class ConsumerArtifact:
    """A library of a consumer project for one robot.

    The caller loads it. No collection removes it before this process ends.

    Attributes
    ----------
    consumer, name : str
        What it is called.
    path : Path
        The shared library.
    header : Path
        The header that it was compiled against.
    store_dir : Path
        The folder of both, which is read-only.
    content_key : str
        Digest of all that was compiled.
    input_key : str or None
        Digest of the request.
    cuda_arch : int
        Compute capability that it was compiled for, the first of several; 0 for the CPU.
    meta : dict
        The record of the consumer's manifest: robot, options, compiler, files read.
    compiled : bool
        Whether a compiler ran for it in this call.
    """

    consumer: str
    name: str
    path: Path
    header: Path
    store_dir: Path
    content_key: str
    input_key: str | None
    cuda_arch: int
    meta: dict[str, Any]
    compiled: bool


def compute_of(level: str) -> int:
    """Return the first compute capability of a level, 0 for one of the CPU."""
    return architectures_of(level).machine[0] if is_cuda(level) else 0


def hold_artifact(
    consumer: str, name: str, entry: Entry, record: Mapping[str, Any], store: Store, *, compiled: bool
) -> ConsumerArtifact:
    """Return an artifact once every file of it was verified, and keep it from collection while this process lives.

    Raises
    ------
    CorruptEntryError
        A file is not what was built.
    EntryMissingError
        The entry was collected meanwhile.
    """
    _leases[entry.directory] = store.lease(entry.key)
    for file in entry.files:
        entry.verified(file)
    return ConsumerArtifact(
        consumer,
        name,
        entry.path(record["artifact"]),
        entry.path(HEADER),
        entry.directory,
        entry.key,
        record["input"],
        compute_of(record["level"]),
        dict(record),
        compiled,
    )
