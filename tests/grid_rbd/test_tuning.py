"""Tuning: what is chosen, kept in the store and used again. Measuring is tested with the runner."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import grid_rbd
from grid_backends.numpy.shape_times import ANY_BATCH
from grid_core.errors import OptionError, RobotNotRegisteredError
from grid_rbd import profiles
from grid_rbd.profiles import FILE, apply_profile, keep_profile, profile_key, stored_profile
from grid_rbd.tuning import choose
from grid_store import Store, StoreWriteError
from tests.grid_core.units import PENDULUM

UNIT = "0" * 64
GPU = "Some GPU, 4 multiprocessors"
TIMES = {16: {"w1": 3.0, "w4": 1.0}, 64: {"w1": 3.0, "w4": 2.0}, 1024: {"w1": 3.0, "w4": 4.0}}


def test_the_fastest_shape_serves_up_to_the_middle_of_two_batches() -> None:
    assert choose(TIMES) == [(256, "w4"), (ANY_BATCH, "w1")]
    assert choose({16: TIMES[16]}) == [(ANY_BATCH, "w4")]
    assert choose({}) == []


def test_a_profile_is_kept_for_its_unit_and_gpu(root: Path) -> None:
    store = Store(root)
    assert stored_profile(store, GPU, UNIT) == []
    keep_profile(store, GPU, UNIT, [(ANY_BATCH, "w1")], TIMES)
    keep_profile(store, GPU, UNIT, choose(TIMES), TIMES)
    assert stored_profile(store, GPU, UNIT) == choose(TIMES)
    assert stored_profile(store, "Another GPU", UNIT) == []
    assert stored_profile(store, GPU, "1" * 64) == []
    store.gc(execute=True)
    assert stored_profile(store, GPU, UNIT) == choose(TIMES), "collection leaves profiles alone"


def test_functions_get_the_profile_of_their_gpu(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, given = Store(root), list[Any]()
    function = SimpleNamespace(set_profile=given.append)
    monkeypatch.setattr(profiles, "gpu_name", lambda index: f"{GPU} {index}")
    keep_profile(store, f"{GPU} 1", UNIT, choose(TIMES), TIMES)
    apply_profile(function, store, UNIT, "cuda")
    assert given == []
    apply_profile(function, store, UNIT, "cuda:1")
    assert given == [choose(TIMES)]


def test_a_damaged_profile_is_left_out_with_a_warning(root: Path) -> None:
    store = Store(root)
    keep_profile(store, GPU, UNIT, choose(TIMES), TIMES)
    entry = store.get(profile_key(GPU, UNIT).digest)
    assert entry is not None
    path = entry.path(FILE)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"w4", b"w8"))
    with pytest.warns(UserWarning, match="profile is damaged and left out.*'grid-rbd tune' makes it anew"):
        assert stored_profile(store, GPU, UNIT) == []


def test_a_profile_that_does_not_fit_on_the_disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StoreWriteError, match=rf"{root}: .*No space left on device; .*free space"):
        keep_profile(Store(root), GPU, UNIT, choose(TIMES), TIMES)


def test_only_registered_robots_on_gpus_are_tuned(root: Path) -> None:
    with pytest.raises(RobotNotRegisteredError):
        grid_rbd.tune_robot("arm", root)
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, device="reference", algorithm_list="crba")
    with pytest.raises(OptionError, match="'arm' is registered for device='reference', and only GPUs are tuned"):
        grid_rbd.tune_robot("arm", root)
