"""What ``doctor`` says of nvcc, the driver and the GPU, on machines that have them or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grid_backends import native
from grid_core.errors import OptionError, ToolchainError
from grid_core.toolchains.nvcc import NvccCompiler
from grid_rbd import gpu_checks
from grid_rbd.gpu_checks import check_gpu, check_nvcc

NVCC = NvccCompiler(("/opt/cuda/bin/nvcc",), "Cuda compilation tools, release 13.0, V13.0.88", (75, 90, 121), "")
GPU = {"name": "NVIDIA H200", "compute": 90, "total_bytes": 150_000_000_000}


def lacking(*_: object) -> Any:
    raise ToolchainError("no working nvcc; tried\n  PATH: 'nvcc' is not an executable")


@pytest.fixture
def nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_checks, "find_nvcc", lambda: NVCC)


@pytest.fixture
def no_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_checks, "find_nvcc", lacking)
    monkeypatch.delenv("CUDA_HOME", raising=False)


def machine(monkeypatch: pytest.MonkeyPatch, *devices: dict[str, Any], driver: str = "13.0") -> None:
    monkeypatch.setattr(native, "cuda_device_count", lambda: len(devices))
    monkeypatch.setattr(native, "cuda_device", lambda index: devices[index])
    monkeypatch.setattr(gpu_checks, "_driver_release", lambda: driver)


def test_nvcc(nvcc: None) -> None:
    found = check_nvcc()
    assert (found.status, found.found, found.advice) == ("ok", "/opt/cuda/bin/nvcc, CUDA 13.0, sm_75 to sm_121", "")


def test_without_nvcc(no_nvcc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = check_nvcc()
    assert (found.status, found.found) == ("off", "not found")
    assert "only device='cuda' and cuda_arch need it: install the CUDA toolkit and set CUDA_HOME" in found.advice
    monkeypatch.setenv("CUDA_HOME", "/no/such/folder")
    found = check_nvcc()
    assert found.status == "warn"
    assert "PATH: 'nvcc' is not an executable; correct or unset CUDA_HOME" in found.advice


def test_a_gpu(nvcc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, GPU, {**GPU, "name": "Other", "compute": 75})
    found = check_gpu()
    assert (found.status, found.advice) == ("ok", "")
    assert found.found == "NVIDIA H200 (sm_90, 150 GB), Other (sm_75, 150 GB), driver for CUDA 13.0"


def test_a_gpu_that_nvcc_does_not_know(nvcc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, {**GPU, "compute": 130})
    found = check_gpu()
    assert found.status == "warn"
    assert found.advice == "/opt/cuda/bin/nvcc does not compile for sm_130; install a CUDA toolkit that does"


def test_a_driver_that_is_older_than_nvcc(nvcc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, GPU, driver="12.4")
    found = check_gpu()
    assert found.status == "warn"
    assert "the driver may refuse code of nvcc 13.0; update the driver, or use a CUDA toolkit 12.4" in found.advice


def test_a_gpu_without_nvcc(no_nvcc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, GPU, driver="12.4")
    assert check_gpu().status == "ok", "units may come from another machine"


def test_a_driver_without_gpu(nvcc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch)
    found = check_gpu()
    assert (found.status, found.found) == ("off", "none, driver for CUDA 13.0")
    assert "CUDA_VISIBLE_DEVICES" in found.advice


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        raise OptionError("no CUDA driver: libcuda.so.1: no such file; install the NVIDIA driver")

    monkeypatch.setattr(native, "cuda_device_count", count)
    found = check_gpu()
    assert (found.status, found.found) == ("off", "no CUDA driver: libcuda.so.1: no such file")
    assert found.advice.endswith("install the NVIDIA driver")


def test_a_driver_that_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        raise OptionError("the CUDA driver cannot be initialised: CUDA_ERROR_803; reboot or reinstall the driver")

    monkeypatch.setattr(native, "cuda_device_count", count)
    found = check_gpu()
    assert (found.status, found.advice) == ("warn", "reboot or reinstall the driver")


def test_the_release_of_a_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gpu_checks.DRIVER, str(tmp_path / "libcuda.so"))
    assert gpu_checks._driver_release() == "of unknown release"


def test_machines_differ_but_each_is_told() -> None:
    """On whatever machine this runs."""
    assert check_nvcc().found
    assert check_gpu().found
