from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import grid_rbd
from grid_core.build.targets import CpuTarget, CudaTarget, target_of
from grid_core.errors import CompileError, OptionError
from grid_store import Store
from tests.grid_core.units import PENDULUM

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")


def test_a_level_names_its_target() -> None:
    assert isinstance(target_of("sm_90"), CudaTarget)
    assert isinstance(target_of("x86-64-v3"), CpuTarget)
    with pytest.raises(OptionError, match="such as 'sm_90'"):
        CudaTarget().identity("sm_hopper")


def test_what_is_no_cubin_is_not_published(tmp_path: Path) -> None:
    (tmp_path / "unit.cubin").write_text("nothing")
    with pytest.raises(CompileError, match="is no cubin"):
        CudaTarget().check_loadable(tmp_path / "unit.cubin", "sm_90")


@needs_nvcc
def test_a_cuda_robot_builds_without_a_gpu(tmp_path: Path) -> None:
    """One cubin per algorithm, with a description of its kernels; both variants of an optional input are there."""
    arm = grid_rbd.register_robot("arm", PENDULUM, cuda_arch=90, algorithm_list="inverse_dynamics", cache_dir=tmp_path)
    assert (arm.device, arm.meta["cuda_arch"], arm.meta["cpu_level"]) == ("cuda", 90, None)
    store = Store(tmp_path)
    record = store.resolve("arm")
    assert record is not None
    entry = store.get(record["units"]["inverse_dynamics"])
    assert entry is not None
    unit = json.loads(entry.verified("unit.json").read_text())
    assert unit["arch"] == 90
    assert {tuple(kernel["absent"]) for kernel in unit["kernels"]} == {(), ("f_ext",)}
    assert entry.verified("unit.cubin").read_bytes()[:4] == b"\x7fELF"
    assert grid_rbd.build_plan("arm", PENDULUM, cuda_arch=90, algorithm_list="inverse_dynamics", cache_dir=tmp_path)[
        "cached"
    ]
    assert not grid_rbd.build_plan("arm", PENDULUM, algorithm_list="inverse_dynamics", cache_dir=tmp_path)["cached"]
