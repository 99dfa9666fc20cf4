"""Tuning: measure the launch shapes of a robot's units on this GPU, and keep what was found for every later handle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

from grid_backends.numpy.cuda import device_index
from grid_backends.numpy.functions import open_function
from grid_backends.numpy.shape_times import ANY_BATCH, ShapeTimes, shape_times
from grid_core.build import RobotEntry, load_entry
from grid_core.errors import OptionError
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.manager import load_catalogue
from grid_rbd.basics import checked_name, open_store
from grid_rbd.handles import compiled_handle, entry_record
from grid_rbd.keywords import checked_keywords
from grid_rbd.profiles import Profile, gpu_name, keep_profile
from grid_rbd.samples import sample_arguments
from grid_store import Store

BATCHES = (16, 64, 256, 1024, 4096, 16384, 65536)
MOST_BYTES = 4 << 30
"""Batches whose results would take more are left out."""


@dataclass(frozen=True)
class Tuning:
    """What was measured of one algorithm.

    Attributes
    ----------
    algorithm : str
    seconds : mapping of int to mapping of str to float
        Device time of a call, by batch size and launch shape.
    estimated : mapping of int to str
        The shape that would be launched without a profile.
    profile : sequence of (int, str)
        The fastest shape up to each batch size.
    """

    algorithm: str
    seconds: Mapping[int, Mapping[str, float]]
    estimated: Mapping[int, str]
    profile: Profile


@checked_keywords
def tune_robot(
    name: str,
    cache_dir: str | Path | None = None,
    *,
    algorithm_list: str | Sequence[str] | None = None,
    batch_sizes: Sequence[int] = BATCHES,
) -> list[Tuning]:
    """Measure the launch shapes of a registered robot on its GPU, and keep the fastest for each batch size.

    Handles that are made later choose by it, on GPUs of the same model and wherever the same units are used. Without it
    the choice is estimated.

    Parameters
    ----------
    name : str
        A robot that is registered with ``device="cuda"``.
    cache_dir : path, optional
    algorithm_list : sequence of str or str, optional
        Algorithms and profiles to measure; default: all that are built.
    batch_sizes : sequence of int
        What to measure; sizes in between get the shape of the nearer one.

    Returns
    -------
    list of Tuning

    Raises
    ------
    RobotNotRegisteredError
        The name is not registered.
    OptionError
        The robot is not built for GPUs, lacks an algorithm, or a batch size is not positive.
    CudaError
        There is no GPU.
    """
    store = open_store(cache_dir)
    entry = load_entry(checked_name(name), store)
    device = str(entry.record["facts"]["device"])
    if not device.startswith("cuda"):
        raise OptionError(
            f"robot {name!r} is registered for device={device!r}, and only GPUs are tuned; register it with "
            "device='cuda'"
        )
    batches = sorted(set(batch_sizes))
    if not batches or batches[0] < 1:
        raise OptionError(f"batch_sizes is {batch_sizes!r}, expected numbers of at least 1")
    algorithms = _chosen(entry, algorithm_list)
    return [_tuned(entry, algorithm, batches, gpu_name(device_index(device)), store) for algorithm in algorithms]


def _chosen(entry: RobotEntry, algorithm_list: str | Sequence[str] | None) -> list[Algorithm]:
    catalogue = load_catalogue(tuple(entry.record["plugin_files"]))
    wanted = tuple(entry.units) if algorithm_list is None else catalogue.select(algorithm_list)
    if missing := [name for name in wanted if name not in entry.units]:
        raise OptionError(f"robot {entry.name!r} is built without {', '.join(missing)}; register it with them first")
    return [catalogue.algorithms[name] for name in wanted]


def _tuned(entry: RobotEntry, algorithm: Algorithm, batches: Sequence[int], gpu: str, store: Store) -> Tuning:
    measured = _measured(entry, algorithm, batches)
    seconds = {batch: found.seconds for batch, found in measured.items()}
    profile = choose(seconds)
    keep_profile(store, gpu, entry.units.entries[algorithm.name].key, profile, seconds)
    return Tuning(algorithm.name, seconds, {batch: found.estimated for batch, found in measured.items()}, profile)


def _measured(entry: RobotEntry, algorithm: Algorithm, batches: Sequence[int]) -> dict[int, ShapeTimes]:
    """Time a call of an algorithm in each of its launch shapes, for each batch size whose results fit."""
    catalogue = load_catalogue(tuple(entry.record["plugin_files"]))
    record = entry_record(entry, catalogue)
    handle = compiled_handle(entry, catalogue)
    signature = record.signatures[algorithm.name]
    function = open_function(entry.units[algorithm.name], signature, record.device)
    sample = sum(output.size for output in signature.outputs) * signature.dtype.itemsize
    return {
        batch: shape_times(record, function, algorithm.name, sample_arguments(algorithm, handle, batch))
        for batch in batches
        if batch * sample <= MOST_BYTES
    }


def choose(seconds: Mapping[int, Mapping[str, float]]) -> list[tuple[int, str]]:
    """Return the profile of the fastest shapes. Between two measured sizes it changes at their geometric mean."""
    batches = sorted(seconds)
    profile: list[tuple[int, str]] = []
    for batch, following in zip(batches, [*batches[1:], None]):
        fastest = min(seconds[batch], key=lambda shape: seconds[batch][shape])
        if profile and profile[-1][1] == fastest:
            profile.pop()
        profile.append((ANY_BATCH if following is None else isqrt(batch * following), fastest))
    return profile
