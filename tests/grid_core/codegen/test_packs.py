"""Functions of the header on packs: every lane is what the same function makes of that lane's numbers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grid_core.build import BuildOptions, make_request
from grid_core.build.header import header_text
from grid_core.build.models import parsed
from grid_core.toolchains import detect_level, find_compiler
from tests.grid_core.codegen.test_header import COMPILERS
from tests.grid_core.units import PENDULUM

ALGORITHMS = ["inverse_dynamics", "forward_dynamics_gradient", "integrator_semi_implicit_euler", "frame_motion"]

MAIN = """
#define GRID_PACKS
#include "grid.hpp"
#include <cstdio>
#include <cstdlib>

template <class T, int In, int Out, class OfPacks, class OfScalars>
int compare(const char* name, OfPacks of_packs, OfScalars of_scalars) {
    using V = grid::pack<T>;
    V in[In], out[Out], ws[4096];
    T lane_in[In], lane_out[Out], lane_ws[4096];
    for (V& entry : in)
        for (int l = 0; l < grid::lanes<T>; ++l) entry[l] = T(0.2) * T(std::rand()) / T(RAND_MAX) + T(0.1);
    of_packs(in, out, ws);
    int wrong = 0;
    for (int l = 0; l < grid::lanes<T>; ++l) {
        for (int i = 0; i < In; ++i) lane_in[i] = in[i][l];
        of_scalars(lane_in, lane_out, lane_ws);
        for (int i = 0; i < Out; ++i) {
            const double apart = std::fabs(double(out[i][l]) - double(lane_out[i]));
            if (!(apart <= (sizeof(T) == 4 ? 5e-3 : 1e-10) * (1 + std::fabs(double(lane_out[i]))))) ++wrong;
        }
    }
    if (wrong) std::printf("%s: %d entries are wrong\\n", name, wrong);
    return wrong;
}

using namespace grid::dims;

template <class T>
int all() {
    const auto dynamics = [](const auto* in, auto* out, auto* ws) {
        grid::inverse_dynamics(in, in + nq, in + nq + nv, in + nq + 2 * nv, out, ws);
    };
    const auto gradient = [](const auto* in, auto* out, auto* ws) {
        grid::forward_dynamics_gradient(in, in + nq, in + nq + nv, in + nq + 2 * nv, in + nq + 2 * nv + 3, out, ws);
    };
    const auto step = [](const auto* in, auto* out, auto* ws) {
        grid_plant::plant_step_semi_implicit_euler(in, in + nq + nv, in + nx + nv, in + nx + nv + 1, out, ws);
    };
    const auto frame = [](const auto* in, auto* out, auto* ws) {
        if (!grid_plant::frame_eval(0, in, out, out + 16, ws)) std::abort();
    };
    const auto maps = [](const auto* in, auto* out, auto*) {
        grid::configuration_difference(in, in + nq, out);
        grid::configuration_difference_jacobians(in, in + nq, out + nv, out + nv + nv * nv);
        if (!grid::model::joint_transform(1, in, out + nv + 2 * nv * nv)) std::abort();
    };
    const auto activation = [](const auto* in, auto* out, auto*) {
        constexpr int hinge = GRID_PLANT_ACTIVATION_SMOOTH_HINGE;
        out[0] = grid_plant::activation_value(hinge, in[0], in[1], in[2], in[3], in[4], in[5]);
    };
    return compare<T, nq + 2 * nv + 3, nv>("dynamics", dynamics, dynamics)
        + compare<T, nq + 2 * nv + 3 + 6 * nb, 2 * nv * nv>("gradient", gradient, gradient)
        + compare<T, nx + nv + 4, nx>("step", step, step)
        + compare<T, nq, 16 + 6 * nv>("frame", frame, frame)
        + compare<T, 2 * nq, nv + 2 * nv * nv + 16>("maps", maps, maps)
        + compare<T, 6, 1>("activation", activation, activation);
}

int main() { return all<float>() + all<double>() > 0; }
"""


@pytest.fixture(scope="module", params=[False, True], ids=["fixed", "floating"])
def header(request: pytest.FixtureRequest) -> str:
    wanted = make_request(PENDULUM, BuildOptions(floating_base=request.param), algorithm_list=ALGORITHMS)
    return header_text(wanted, parsed(wanted), sections={"plant": True})


@pytest.mark.parametrize("compiler", COMPILERS)
def test_lanes_are_independent_samples(compiler: str, header: str, tmp_path: Path) -> None:
    (tmp_path / "grid.hpp").write_text(header)
    (tmp_path / "main.cpp").write_text(MAIN)
    flags = [*find_compiler(compiler).project(detect_level()).code, "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    ran = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_device_code_has_no_packs(header: str, tmp_path: Path) -> None:
    (tmp_path / "grid.hpp").write_text(header)
    use = "__global__ void step(const float* x, float* y, float* ws) {\n grid::crba<float>(x, x, y, ws);\n}\n"
    (tmp_path / "use.cu").write_text(f'#define GRID_PACKS\n#include "grid.hpp"\n{use}')
    flags = ["-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-cubin"]
    subprocess.run(["nvcc", *flags, "use.cu", "-o", "use.cubin"], cwd=tmp_path, check=True)
