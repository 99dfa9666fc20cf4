"""What the header says about the robot: constant expressions, host and device code agree with the model."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from grid_core.codegen.render import render_header
from grid_core.codegen.tables import ABI
from grid_core.kernel.settings import TraceSettings, dimensions
from grid_core.model import Model, load_model
from grid_core.plugins.frames import frame_numbers
from grid_core.plugins.manager import load_catalogue
from tests.grid_core.codegen.test_header import COMPILERS
from tests.grid_core.units import GOLDEN
from tests.oracle.robots import MIXED

EXAMPLES = Path(__file__).parents[3] / "examples" / "robots"
ROBOTS = {
    "arm": lambda: load_model(GOLDEN / "iiwa14.urdf"),
    "quadruped": lambda: load_model(EXAMPLES / "quadruped12.urdf", floating_base=True),
    "mixed": MIXED["mixed floating"].model,
    "still": lambda: load_model('<robot name="still"><link name="base"/></robot>'),
}
FLAGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]

MAIN = """
#include "grid.hpp"
#include <cstdio>
using namespace grid::model;
constexpr const char* last = frame_name(grid::dims::nf - 1);
static_assert(frame_id(last) == {last_id} && frame_id("no such frame") == -1, "");
static_assert(grid::dims::nq == grid::NUM_POS && grid::dims::nv == grid::NUM_VEL, "");
static_assert(GRID_HEADER_ABI_SERVES({major}, {minor}), "");
template <class T> void limits(T (*limit)(int), int n) {{
    for (int i = 0; i < n; ++i) std::printf("%s\\"%.17g\\"", i ? "," : "[", double(limit(i)));
    std::printf(n ? "]," : "[],");
}}
template <class T> void integers(T of, int n) {{
    for (int i = 0; i < n; ++i) std::printf("%s%d", i ? "," : "[", of(i));
    std::printf(n ? "]," : "[],");
}}
int main() {{
    std::printf("[");
    limits(position_lower<double>, grid::dims::nq), limits(position_upper<double>, grid::dims::nq);
    limits(velocity_limit<double>, grid::dims::nv), limits(effort_limit<float>, grid::dims::nv);
    integers(parent, grid::dims::nb), integers(q_index, grid::dims::nb), integers(v_index, grid::dims::nb);
    integers(frame_body, grid::dims::nf), integers(end_effector, grid::dims::nee);
    for (int i = 0; i < grid::dims::nf; ++i) {{
        double numbers[13] = {{}};
        if (frame_numbers(grid::dims::nf, numbers) || frame_numbers(-1, numbers) || !frame_numbers(i, numbers)) {{
            return 1;
        }}
        for (int k = 0; k < 13; ++k) std::printf("%s%.17g", k ? "," : "[", numbers[k]);
        std::printf("],");
    }}
    std::printf("{dims}]", {values});
}}
"""


@pytest.fixture(scope="module", params=ROBOTS)
def model(request: pytest.FixtureRequest) -> Model:
    return ROBOTS[request.param]()


def header(model: Model) -> str:
    return render_header(["crba"], model, load_catalogue().algorithms, TraceSettings())


@pytest.mark.parametrize("compiler", COMPILERS)
def test_tables_are_those_of_the_model(compiler: str, model: Model, tmp_path: Path) -> None:
    dims, last = dimensions(model, TraceSettings()), model.frames[-1].name
    use = {
        "last_id": model.frames.index(model.frame(last)),
        "major": ABI[0],
        "minor": ABI[1],
        "dims": ",".join(["%d"] * len(dims)),
        "values": ", ".join(f"grid::dims::{name}" for name in dims),
    }
    (tmp_path / "grid.hpp").write_text(header(model))
    (tmp_path / "main.cpp").write_text(MAIN.format(**use))
    subprocess.run([compiler, *FLAGS, "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    lower, upper, rate, effort, *found = json.loads(printed)
    for text, expected in ((lower, model.lower), (upper, model.upper), (rate, model.velocity_limit)):
        assert list(map(float, text)) == list(expected)
    np.testing.assert_array_equal(np.array(effort, float), np.array(model.effort_limit, np.float32))
    parents, q_index, v_index, bodies, ends, *found = found
    assert parents == [joint.parent for joint in model.joints]
    assert (q_index, v_index) == ([j.q_index for j in model.joints], [j.v_index for j in model.joints])
    assert bodies == [frame.body for frame in model.frames]
    targets = TraceSettings().end_effector_frames(model)
    assert ends == [model.frames.index(frame) for frame in targets]
    assert found[: len(model.frames)] == [frame_numbers(frame) for frame in model.frames]
    assert found[len(model.frames) :] == list(dims.values())


def test_a_joint_wins_where_a_link_has_its_name(tmp_path: Path) -> None:
    model = load_model(
        '<robot name="twin"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="arm" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="1 2 3"/>'
        '<limit lower="-1" upper="1" effort="2" velocity="3"/></joint></robot>'
    )
    assert [frame.name for frame in model.frames].count("arm") == 2
    (tmp_path / "grid.hpp").write_text(header(model))
    number = model.frames.index(model.frame("arm"))
    use = f'#include "grid.hpp"\nstatic_assert(grid::model::frame_id("arm") == {number}, "");\n'
    (tmp_path / "use.cpp").write_text(use)
    subprocess.run([COMPILERS[0], *FLAGS, "-fsyntax-only", "use.cpp"], cwd=tmp_path, check=True)


DEVICE = """
#include "grid.hpp"
__global__ void all(float* out, int i) {
    double numbers[13] = {};
    out[0] = grid::model::frame_numbers(i, numbers) ? float(numbers[i]) : 0;
    out[1] = grid::model::position_lower<float>(i) + float(grid::model::effort_limit<double>(i));
    out[2] = float(grid::model::parent(i) + grid::model::frame_id("none") + grid::dims::nv + grid::crba_scratch());
    out[3] = float(grid::model::joint_name(i)[0]);
}
"""


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_tables_in_device_code(tmp_path: Path) -> None:
    (tmp_path / "grid.hpp").write_text(header(ROBOTS["quadruped"]()))
    (tmp_path / "use.cu").write_text(DEVICE)
    flags = ["-std=c++17", "-arch=sm_90", "-Xcompiler", "-Wall,-Wextra,-Werror", "-Werror", "all-warnings", "-cubin"]
    subprocess.run(["nvcc", *flags, "use.cu", "-o", "use.cubin"], cwd=tmp_path, check=True)
