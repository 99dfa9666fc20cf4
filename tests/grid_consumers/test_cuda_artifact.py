"""Artifacts for GPUs: compiled here, run where there is one."""

from __future__ import annotations

import ctypes
import shutil

import pytest

import grid_rbd
from grid_backends.errors import CudaError
from tests.grid_consumers.conftest import Project

pytestmark = pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")

KERNEL = """
#include "grid.hpp"
#include "weights.hpp"
#ifdef __CUDA_ARCH__
#include "device.hpp"
#endif
__global__ void masses(const GRID_SCALAR* q, GRID_SCALAR* M, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const GRID_SCALAR gravity[3] = {0, 0, 0};
    GRID_SCALAR ws[grid::crba_scratch()];
    grid::crba<GRID_SCALAR>(q + i * grid::NUM_POS, gravity, M + i * grid::NUM_VEL * grid::NUM_VEL, ws);
}
extern "C" int launch(const GRID_SCALAR* q, GRID_SCALAR* M, int n) {
    masses<<<(n + 127) / 128, 128>>>(q, M, n);
    return cudaDeviceSynchronize();
}
"""


@pytest.fixture
def device_project(project: Project) -> Project:
    kernel = project.write("kernel.cu", KERNEL)
    project.write("first/device.hpp", "")
    project.options = {"sources": [kernel, project.folder / "helper.cpp"], "cuda_arch": 90}
    return project


def test_an_artifact_for_a_gpu(device_project: Project, compiled_files: list[str]) -> None:
    built = device_project.build()
    assert (built.cuda_arch, built.meta["level"], built.meta["compiler"]["kind"]) == (90, "sm_90", "nvcc")
    assert ctypes.CDLL(str(built.path)).version() == 3
    assert device_project.load(cuda_arch=90).path == built.path
    with pytest.raises(grid_rbd.ArtifactIncompatibleError, match="sm_90, which does not run on compute capability 86"):
        device_project.load(cuda_arch=86)
    assert not device_project.build().compiled

    compiled_files.clear()
    device_project.write("first/device.hpp", "#define DEVICE 1\n")
    assert device_project.plan()["stale_reasons"] == ["include/0/device.hpp changed"], "only device code includes it"
    device_project.build()
    assert compiled_files == ["kernel.cu"]


def test_several_architectures(device_project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    device_project.options["cuda_arch"] = None
    monkeypatch.setenv("GRID_RBD_CUDA_ARCHS", "80,90+ptx")
    plan = device_project.plan()
    assert (plan["cuda_arch"], plan["identity"]["level"]) == (80, "sm_80,sm_90,compute_90")


def test_an_architecture_that_nvcc_does_not_know(device_project: Project) -> None:
    with pytest.raises(grid_rbd.OptionError, match="does not compile for compute capability 20"):
        device_project.build(cuda_arch=20)


def test_errors_of_nvcc_have_the_log(device_project: Project) -> None:
    device_project.write("kernel.cu", "__global__ void broken() { nonsense(); }\n")
    with pytest.raises(grid_rbd.CompileError, match=r"(?s)nvcc failed .* on kernel\.cu; log: .*nonsense"):
        device_project.build()
    assert grid_rbd.list_artifacts("planner", device_project.root) == []


@pytest.mark.usefixtures("no_driver")
def test_without_a_gpu_the_architecture_has_to_be_given(device_project: Project) -> None:
    with pytest.raises(CudaError, match=r"no CUDA driver.*; to build for a GPU that is not here, give cuda_arch"):
        device_project.build(cuda_arch=None)
