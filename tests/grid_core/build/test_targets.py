from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

import grid_rbd
from grid_core.build.targets import CpuTarget, CudaTarget, target_of
from grid_core.errors import CompileError, OptionError
from grid_store import Store
from tests.grid_core.units import PENDULUM

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")


def test_a_level_names_its_target() -> None:
    assert isinstance(target_of("sm_90"), CudaTarget)
    assert isinstance(target_of("sm_86,sm_90,compute_90"), CudaTarget)
    assert isinstance(target_of("x86-64-v3"), CpuTarget)
    with pytest.raises(OptionError, match="such as 'sm_90'"):
        CudaTarget().identity("sm_hopper")


def test_equal_architectures_are_one_level() -> None:
    assert CudaTarget().identity("sm_90,sm_86,compute_90,sm_90") == "sm_86,sm_90,compute_90"


def test_what_is_no_fat_binary_is_not_published(tmp_path: Path) -> None:
    (tmp_path / "unit.fatbin").write_text("nothing")
    with pytest.raises(CompileError, match="is no fat binary"):
        CudaTarget().check_loadable(tmp_path / "unit.fatbin", "sm_90")


@needs_nvcc
def test_a_cuda_robot_builds_without_a_gpu(tmp_path: Path) -> None:
    """One fat binary per algorithm, with a description of its kernels; both variants of an optional input are there."""
    arm = grid_rbd.register_robot("arm", PENDULUM, cuda_arch=90, algorithm_list="inverse_dynamics", cache_dir=tmp_path)
    assert (arm.device, arm.meta["cuda_arch"], arm.meta["cpu_level"]) == ("cuda", 90, None)
    store = Store(tmp_path)
    record = store.resolve("arm")
    assert record is not None
    entry = store.get(record["units"]["inverse_dynamics"])
    assert entry is not None
    unit = json.loads(entry.verified("unit.json").read_text())
    assert (unit["machine"], unit["portable"]) == ([90], [])
    assert {tuple(kernel["absent"]) for kernel in unit["kernels"]} == {(), ("f_ext",)}
    assert entry.verified("unit.fatbin").read_bytes()[:4] == b"\x50\xed\x55\xba"
    assert grid_rbd.build_plan("arm", PENDULUM, cuda_arch=90, algorithm_list="inverse_dynamics", cache_dir=tmp_path)[
        "cached"
    ]
    assert not grid_rbd.build_plan("arm", PENDULUM, algorithm_list="inverse_dynamics", cache_dir=tmp_path)["cached"]


def images(binary: bytes) -> list[tuple[str, int]]:
    """Return kind and architecture of what a fat binary holds: a header, then entries with headers of their own."""
    _, header, size = struct.unpack_from("<4xHHQ", binary)
    found, at = [], header
    while at < header + size:
        kind, own, length, architecture = struct.unpack_from("<H2xIQ12xI", binary, at)
        found.append(({1: "ptx", 2: "machine"}[kind], architecture))
        at += own + length
    return found


@needs_nvcc
def test_one_unit_serves_several_architectures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable and the argument ask for the same; adding an architecture builds again, by another key."""
    options: dict[str, Any] = {"algorithm_list": "nonlinear_effects", "cache_dir": tmp_path}
    monkeypatch.setenv("GRID_RBD_CUDA_ARCHS", "86,90+ptx")
    key, _, record = grid_rbd.warm_robot("arm", PENDULUM, device="cuda", **options)
    assert (record["facts"]["cuda_arch"], record["facts"]["cuda_archs"]) == (86, ["86", "90+ptx"])
    assert record["level"] == "sm_86,sm_90,compute_90"
    entry = Store(tmp_path).get(record["units"]["nonlinear_effects"])
    assert entry is not None
    unit = json.loads(entry.verified("unit.json").read_text())
    assert (unit["machine"], unit["portable"]) == ([86, 90], [90])
    assert all(kernel["shared_bytes"] <= 99 << 10 for kernel in unit["kernels"])
    assert set(images(entry.verified("unit.fatbin").read_bytes())) == {("machine", 86), ("machine", 90), ("ptx", 90)}
    monkeypatch.delenv("GRID_RBD_CUDA_ARCHS")
    plan = grid_rbd.build_plan("arm", PENDULUM, cuda_archs=["90+ptx", 86], **options)
    assert (plan["cached"], plan["content_key"], plan["cuda_archs"]) == (True, key, ["86", "90+ptx"])
    more = grid_rbd.build_plan("arm", PENDULUM, cuda_archs="86,90+ptx", cuda_arch=89, **options)
    assert (more["cached"], more["cuda_archs"]) == (False, ["86", "89", "90+ptx"])
    assert "level changed" in more["would"]
