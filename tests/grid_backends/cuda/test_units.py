"""CUDA units: what is checked when they are opened, and when they are first used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grid_backends.errors import CudaError, DeviceMemoryError, UnitError
from grid_backends.numpy import open_cuda_unit
from grid_core.model import Model
from tests.grid_backends.cuda.fakes import FakeDriver, write_unit
from tests.grid_backends.toys import make_record

NV, NQ = 8, 9


def call(function: Any) -> Any:
    return function((np.zeros(NQ), np.zeros(NV), None, None, None, None))


def test_opening_uses_no_device(fake: FakeDriver, open_toy: Any) -> None:
    open_toy(device=1, machine=[80])
    assert fake.names() == []


def test_kernels_are_loaded_once_with_their_shared_memory(fake: FakeDriver, open_toy: Any) -> None:
    toy = open_toy(shared_bytes=99_000)
    call(toy)
    call(toy)
    assert len(fake.log("cuModuleLoadData")) == 2  # the unit has two files
    assert fake.log("cuFuncSetAttribute")[0] == ["toy_w1", "8", "99000"]
    kernel = toy.unit.kernels[1]
    assert (kernel["name"], kernel["shape"], kernel["resident"]) == ("toy_w4", "w4", 16)
    assert (kernel["registers"], kernel["max_threads"]) == (40, 512)


def test_a_closed_unit_is_unloaded(fake: FakeDriver, open_toy: Any) -> None:
    toy = open_toy()
    call(toy)
    del toy
    assert len(fake.log("cuModuleUnload")) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"abi": 2}, "expected ABI 5, found 2; rebuild"),
        ({"written": {"dtype": "float16"}}, "expected dtype float32 or float64, found float16"),
        ({"written": {"dtype": "float32"}}, "expected float64, found float32"),
        ({"kernels": []}, "expected at least one kernel"),
        ({"kernels": [{"name": "toy"}]}, "its description cannot be read .*shape"),
        ({"warps": ()}, "expected at least one kernel"),
    ],
)
def test_a_wrong_description_is_refused(open_toy: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnitError, match=message):
        open_toy(**changes)


def test_kernels_have_to_fit_the_declaration(native: ModuleType, model: Model, tmp_path: Path) -> None:
    folder = write_unit(tmp_path, model, "pair_of_toys")
    with pytest.raises(UnitError, match="expected 1 outputs, found 2"):
        open_cuda_unit(folder, make_record(model).signatures["toy"])


def test_a_missing_unit_is_refused(fake: FakeDriver, native: ModuleType, model: Model, tmp_path: Path) -> None:
    signature = make_record(model).signatures["toy"]
    with pytest.raises(UnitError, match=r"No such file.*; rebuild"):
        open_cuda_unit(tmp_path, signature)
    folder = write_unit(tmp_path, model)
    (folder / "unit.fatbin").unlink()
    with pytest.raises(UnitError, match="the file is missing or empty; rebuild"):
        call(open_cuda_unit(folder, signature))


@pytest.mark.parametrize(
    ("machine", "portable", "held"),
    [
        ([80], [], "capability 80 and no PTX"),
        ([80, 86], [], "capability 80, 86 and no PTX"),
        ([91], [], "capability 91 and no PTX"),
        ([100], [100], "capability 100 and PTX from 100 on"),
    ],
)
def test_another_architecture_names_both(open_toy: Any, machine: list[int], portable: list[int], held: str) -> None:
    with pytest.raises(
        UnitError, match=rf"machine code for compute {held}, and device 'cuda:1' \(Fake 1\) is 90; .*cuda_arch=90, or"
    ):
        call(open_toy(device=1, machine=machine, portable=portable))


@pytest.mark.parametrize(("machine", "portable"), [([80, 90], []), ([80], [80]), ([120], [75, 120])])
def test_one_that_fits_is_enough(open_toy: Any, machine: list[int], portable: list[int]) -> None:
    toy = open_toy(machine=machine, portable=portable)
    assert (toy.unit.machine, toy.unit.portable) == (machine, portable)
    np.testing.assert_array_equal(call(toy), np.full(NV, -9.81))


def test_a_file_without_the_code_it_should_have_fails_when_it_is_loaded(fake: FakeDriver, open_toy: Any) -> None:
    toy = open_toy()
    fake.fail("cuModuleLoadData", 209)
    with pytest.raises(UnitError, match=r"capability 90 and no PTX, .* is 90; build the robot with cuda_arch=90"):
        call(toy)
    np.testing.assert_array_equal(call(toy), np.full(NV, -9.81))


@pytest.mark.parametrize("result", [218, 221, 222])
def test_ptx_that_the_driver_cannot_compile_says_what_to_do(fake: FakeDriver, open_toy: Any, result: int) -> None:
    toy = open_toy(machine=[80], portable=[80])
    fake.fail("cuModuleLoadData", result)
    with pytest.raises(
        UnitError, match=r"cannot compile its PTX for Fake 0: .*update the NVIDIA driver, or build .*=90"
    ):
        call(toy)


def test_too_much_shared_memory_names_the_limit(open_toy: Any) -> None:
    with pytest.raises(
        UnitError, match=r"takes 300000 bytes of shared memory per block, and Fake 0 has 200000; build .*cuda_arch=90"
    ):
        call(open_toy(shared_bytes=300_000))


def test_a_block_that_fits_nowhere_names_its_registers(open_toy: Any) -> None:
    message = (
        r"takes 40 registers for each of 1024 threads, and Fake 0 runs 512 such threads per block; build the robot"
    )
    with pytest.raises(UnitError, match=message):
        call(open_toy(warps=(32,)))


def test_no_such_device_says_how_many_there_are(fake: FakeDriver, open_toy: Any) -> None:
    with pytest.raises(CudaError, match="'cuda:7': this process sees 2 CUDA devices"):
        call(open_toy(device=7))


def test_driver_errors_name_what_failed(fake: FakeDriver, toy: Any) -> None:
    call(toy)
    fake.fail("cuLaunchKernel", 700)
    with pytest.raises(CudaError, match=r"launching kernel 'toy_without_qdd_w4': CUDA_ERROR_.* restart the process"):
        call(toy)


def test_launches_that_lack_a_resource_name_it(fake: FakeDriver, toy: Any) -> None:
    call(toy)
    fake.fail("cuLaunchKernel", 701)
    with pytest.raises(
        CudaError, match=r"128 threads, 40 registers each, and 3000 bytes .*set_threads_per_block\(64\)"
    ):
        call(toy)
    fake.fail("cuLaunchKernel", 2)
    with pytest.raises(DeviceMemoryError, match=r"no room for the local memory of its threads \(0 bytes each\), free"):
        call(toy)


def test_a_machine_without_driver_says_so(native: ModuleType) -> None:
    script = "from grid_backends.native import cuda_device_count; cuda_device_count()"
    environment = {"PYTHONPATH": ":".join(sys.path), "GRID_RBD_LIBCUDA": "/no/libcuda.so"}
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert "CudaError: no CUDA driver: /no/libcuda.so: cannot open" in result.stderr
    assert "install the NVIDIA driver" in result.stderr
    assert "device='cpu'" in result.stderr
