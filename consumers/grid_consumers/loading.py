"""Prepared artifacts: found by name and verified, without a compiler and without a description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grid_backends.errors import CudaError, RunnerMissingError
from grid_consumers.artifact import ConsumerArtifact, compute_of, hold_artifact
from grid_consumers.errors import ArtifactIncompatibleError, ArtifactNotFoundError
from grid_consumers.record import faults
from grid_core.build.targets import target_of
from grid_core.errors import OptionError, nearest
from grid_core.toolchains.architectures import architectures_of, is_cuda
from grid_store import CorruptEntryError, EntryMissingError, Store

AGAIN = "build_artifact makes it again"


def load(consumer: str, name: str, store: Store, cuda_arch: int | None = None) -> ConsumerArtifact:
    """Return an artifact that was built before.

    Parameters
    ----------
    cuda_arch : int, optional
        Compute capability that it has to run on; default: that of the GPU here, and any where there is none.

    Raises
    ------
    ArtifactNotFoundError
        The consumer has no artifact of that name.
    ArtifactIncompatibleError
        It is for another device or of another version, or its files are damaged or gone.
    """
    record = store.resolve(name, consumer=consumer)
    if record is None:
        raise not_found(consumer, name, store)
    what = f"artifact {name!r} of {consumer!r}"
    for fault in faults(record) or _misfits(record, cuda_arch):
        raise ArtifactIncompatibleError(f"{what}: {fault}; {AGAIN}")
    try:
        entry = store.get(record["content"])
        if entry is None:
            raise ArtifactIncompatibleError(f"{what}: its files are damaged or no longer in the store; {AGAIN}")
        return hold_artifact(consumer, name, entry, record, store, compiled=False)
    except (CorruptEntryError, EntryMissingError) as error:
        raise ArtifactIncompatibleError(f"{what}: {error}; {AGAIN}") from error


def forget(consumer: str, name: str, store: Store) -> None:
    """Remove an artifact from the manifest of its consumer.

    Raises
    ------
    ArtifactNotFoundError
        The consumer has no artifact of that name.
    """
    if name not in store.names(consumer=consumer):
        raise not_found(consumer, name, store)
    store.unbind(name, consumer=consumer)


def described(consumer: str, store: Store) -> list[dict[str, Any]]:
    """Return the facts of every artifact of a consumer; one that cannot be loaded has ``stale_reasons``."""
    return [_described(consumer, name, store) for name in store.names(consumer=consumer)]


def _described(consumer: str, name: str, store: Store) -> dict[str, Any]:
    record = store.resolve(name, consumer=consumer) or {}
    known = {"consumer": consumer, "name": name}
    if reasons := faults(record):
        return {**known, "stale_reasons": reasons}
    entry = store.get(record["content"], used=False)
    facts = {
        **known,
        "content_key": record["content"],
        "input_key": record["input"],
        "cuda_arch": compute_of(record["level"]),
        "path": str(entry.path(record["artifact"])) if entry else None,
        "bytes": entry.size if entry else None,
        "meta": record,
    }
    return facts if entry else {**facts, "stale_reasons": ["its files are damaged or no longer in the store"]}


def not_found(consumer: str, name: str, store: Store) -> ArtifactNotFoundError:
    """Return the error of an artifact that a consumer does not have, with those that it has."""
    names, consumers = store.names(consumer=consumer), store.consumers()
    if names:
        has = f"it has {', '.join(names)}"
        return ArtifactNotFoundError(f"consumer {consumer!r} has no artifact {name!r}{nearest(name, names)}; {has}")
    hint = nearest(consumer, consumers) or "; build_artifact makes one"
    return ArtifactNotFoundError(f"consumer {consumer!r} has no artifacts in {store.root}, {name!r} is asked for{hint}")


def _misfits(record: Mapping[str, Any], cuda_arch: int | None) -> list[str]:
    """Return why what was recorded does not run here."""
    level = record["level"]
    try:
        target = target_of(level)
        runs, identity = target.runs_here(level), target.identity(level)
    except OptionError as error:
        return [str(error)]
    if not is_cuda(level):
        if cuda_arch is not None:
            return [f"it is for the CPU, but cuda_arch={cuda_arch} is asked for"]
        return [] if runs and identity == record["level_identity"] else [f"this processor does not run {level!r}"]
    wanted = _device() if cuda_arch is None else cuda_arch
    if wanted is None or architectures_of(level).run_on(wanted):
        return []
    return [f"it is for {level}, which does not run on compute capability {wanted}"]


def _device() -> int | None:
    """Return the compute capability of the GPU here, ``None`` if there is none that can be asked."""
    try:
        from grid_backends.native import cuda_device

        return int(cuda_device(0)["compute"])
    except (CudaError, RunnerMissingError):
        return None
