"""Launch profiles: which launch shape of a unit serves which batch sizes on one kind of GPU. Kept in the store."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grid_backends.numpy import RobotRecord
from grid_backends.numpy.cuda import device_index
from grid_backends.numpy.functions import open_function
from grid_backends.numpy.record import Call
from grid_backends.numpy.signature import Signature
from grid_core.build.entry import UnitPaths
from grid_store import CorruptEntryError, Key, Store

SCHEMA = 1
FILE = "profile.json"

Profile = Sequence[tuple[int, str]]
"""Pairs of a largest batch size and a shape, in order of size."""


def gpu_name(index: int) -> str:
    """Return what profiles call a GPU: its model, with the multiprocessors that this process may use of it."""
    from grid_backends.native import cuda_device

    facts = cuda_device(index)
    return f"{facts['name']}, {facts['multiprocessors']} multiprocessors"


def profile_key(gpu: str, unit: str) -> Key:
    """Return the key of the profile of a unit, which is named by its content key."""
    return Key({"schema": SCHEMA, "kind": "launch profile", "gpu": gpu, "unit": unit})


def keep_profile(
    store: Store, gpu: str, unit: str, profile: Profile, seconds: Mapping[int, Mapping[str, float]]
) -> str:
    """Store a profile with the times behind it, by batch size and shape, in place of an earlier one; return its key."""
    key = profile_key(gpu, unit)
    text = json.dumps({"gpu": gpu, "profile": [list(entry) for entry in profile], "seconds": seconds}, indent=1)

    def produce(folder: Path) -> dict[str, Any]:
        (folder / FILE).write_text(text + "\n", "utf-8")
        return {"kind": "object", "gpu": gpu}  # small, and no name mentions it: collection leaves objects alone

    store.obtain(key, produce, force=True)
    return key.digest


def stored_profile(store: Store, gpu: str, unit: str) -> list[tuple[int, str]]:
    """Return the profile of a unit; empty if it was not tuned on this kind of GPU.

    A damaged one counts as missing, with a warning: calls are right without it.
    """
    entry = store.get(profile_key(gpu, unit).digest)
    if entry is None:
        return []
    try:
        kept = json.loads(entry.verified(FILE).read_bytes())
    except CorruptEntryError as error:
        warnings.warn(f"a launch profile is damaged and left out: {error}; 'grid-rbd tune' makes it anew", stacklevel=2)
        return []
    return [(int(largest), str(shape)) for largest, shape in kept["profile"]]


class TunedFunctions:
    """Opens the units of a registered robot, as :class:`~grid_backends.numpy.UnitFunctions`, with their profiles."""

    def __init__(self, record: RobotRecord, units: UnitPaths) -> None:
        self._record = record
        self._units = units

    def get(self, name: str) -> Call | None:
        """Return the function of an algorithm, or ``None`` if the entry does not hold it."""
        unit = self._units.get(name)
        if unit is None:
            return None
        return open_tuned(unit, self._record.signatures[name], self._record.device, self._units.store)


def open_tuned(unit: Path, signature: Signature, device: str, store: Store) -> Call:
    """Return the function of a stored unit; one of a GPU chooses its launch shapes as measured, if they were."""
    function = open_function(unit, signature, device)
    if device.startswith("cuda"):
        apply_profile(function, store, unit.parent.name, device)
    return function


def apply_profile(function: Any, store: Store, unit: str, device: str) -> None:
    """Let a function of a CUDA unit choose its launch shapes by the profile that is kept for it, if there is one."""
    if profile := stored_profile(store, gpu_name(device_index(device)), unit):
        function.set_profile(profile)
