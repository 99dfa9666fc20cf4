"""The family keeps every rule of algorithms, is what it says, and its C++ finds what NumPy finds."""

from __future__ import annotations

import ctypes
from pathlib import Path

import grid_coupling
import numpy as np
import pytest

import grid_rbd
from grid_core.errors import ToolchainError
from grid_core.testing import ROBOTS, Case, SampleRobot, conformance
from grid_core.toolchains import find_compiler
from grid_core.toolchains.levels import detect_level
from grid_core.toolchains.nvcc import find_nvcc

robots = pytest.mark.parametrize("sample", ROBOTS, ids=lambda sample: sample.name)
CALL = """#include "grid.hpp"
extern "C" __attribute__((visibility("default"))) void call(const double* q, double* value, int* pair) {
    double coupling[grid::NUM_VEL * grid::NUM_VEL], ws[grid::mass_coupling_scratch()];
    const auto found = grid::most_coupled(q, value, coupling, ws);
    pair[0] = found.first, pair[1] = found.second;
}
"""
KERNEL = """#include "grid.hpp"
__global__ void call(const float* q, float* value, grid::coupled_pair* pair) {
    float coupling[grid::NUM_VEL * grid::NUM_VEL], ws[grid::mass_coupling_scratch()];
    *pair = grid::most_coupled(q, value, coupling, ws);
}
"""


def load(sample: SampleRobot, **options: object) -> grid_rbd.RobotHandle:
    return grid_rbd.load_robot(
        sample.urdf, floating_base=sample.floating_base, algorithm_list=["mass_coupling", "crba"], dtype="float64",
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("case", conformance(grid_coupling), ids=str)
def test_conformance(case: Case) -> None:
    case.run()


@robots
def test_values(sample: SampleRobot) -> None:
    robot = load(sample)
    q = robot.random(seed=0, n=20)
    mass = robot.crba(q)
    scale = np.sqrt(np.diagonal(mass, axis1=1, axis2=2))
    np.testing.assert_allclose(
        robot.mass_coupling(q), mass / (scale[:, :, None] * scale[:, None, :]), rtol=1e-12, atol=1e-13
    )


def header_of(sample: SampleRobot, folder: Path) -> None:
    text = grid_rbd.generate_header(sample.urdf, floating_base=sample.floating_base, algorithm_list=["mass_coupling"])
    (folder / "grid.hpp").write_text(text)


@robots
def test_the_pair_that_is_coupled_most(sample: SampleRobot, tmp_path: Path) -> None:
    header_of(sample, tmp_path)
    source, library = tmp_path / "call.cpp", tmp_path / "call.so"
    source.write_text(CALL)
    find_compiler().compile(source, library, level=detect_level(), include=[tmp_path], log=tmp_path / "log")
    robot = load(sample, device="reference")
    q, value, pair = robot.random(seed=1, n=1)[0], np.zeros(1), np.zeros(2, np.int32)
    ctypes.CDLL(str(library)).call(*(ctypes.c_void_p(array.ctypes.data) for array in (q, value, pair)))
    coupling = np.triu(robot.mass_coupling(q), 1)
    first, second = np.unravel_index(np.abs(coupling).argmax(), coupling.shape)
    assert (pair[0], pair[1]) == (first, second)
    np.testing.assert_allclose(value[0], coupling[first, second])


@robots
def test_the_section_compiles_for_gpus(sample: SampleRobot, tmp_path: Path) -> None:
    try:
        compiler = find_nvcc()
    except ToolchainError as error:
        pytest.skip(str(error))
    header_of(sample, tmp_path)
    source = tmp_path / "call.cu"
    source.write_text(KERNEL)
    compiler.compile(source, tmp_path / "call.fatbin", level="sm_90", include=[tmp_path], log=tmp_path / "log")
