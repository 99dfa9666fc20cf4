"""Maps of configurations in the consumer header: they compile anywhere, keep their contracts, and give our numbers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_core.codegen.render import render_header
from grid_core.codegen.sections import render_sections
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.manager import load_catalogue
from tests.grid_plugins.integrators.test_maps import pairs, reference
from tests.oracle.evaluation import Array
from tests.oracle.robots import MIXED, TREES

COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
ROBOTS = {
    "one": MIXED["mixed fixed"],
    "two": MIXED["mixed floating"],
    "three": TREES["mimic chains"],
}
LABELS = {"one": "mixed fixed", "two": "mixed floating", "three": "mimic chains"}
USE = """
extern "C" {{
void {n}_integrate(const double* q, const double* d, double* out) {{ {n}::configuration_integrate(q, d, out); }}
void {n}_difference(const double* a, const double* b, double* out) {{ {n}::configuration_difference(a, b, out); }}
void {n}_jacobians(const double* a, const double* b, double* x, double* y) {{
    {n}::configuration_difference_jacobians(a, b, x, y);
}}
bool {n}_block(int id, const double* a, const double* b, double* x, double* y, int capacity) {{
    return {n}::configuration_difference_jacobian_block(id, a, b, x, y, capacity);
}}
bool {n}_record(int id, int* out) {{
    {n}::model::coordinate_block_record r = {{-7, -7, -7, -7, -7}};
    const bool found = {n}::model::coordinate_block(id, r);
    out[0] = r.kind, out[1] = r.q_start, out[2] = r.v_start, out[3] = r.nq, out[4] = r.nv;
    return found;
}}
bool {n}_joint(int id, const double* q, double* out) {{ return {n}::model::joint_transform(id, q, out); }}
bool {n}_scalar(int id, double q, double* out) {{ return {n}::model::joint_transform_scalar(id, q, out); }}
float {n}_single(const float* q) {{
    float out[16];
    return {n}::model::joint_transform<float>(0, q, out) ? out[0] : 0.0f;
}}
}}
static_assert({n}::model::coordinate_block_count() == {count}, "");
static_assert({n}::model::SCALAR_BLOCK == 0 && {n}::model::SPHERICAL_BLOCK == 1 && {n}::model::FLOATING_BLOCK == 2, "");
"""


def header(name: str, settings: TraceSettings | None = None, algorithm: str = "configuration_difference") -> str:
    catalogue, model = load_catalogue(), ROBOTS[name].model()
    names, settings = catalogue.closure([algorithm]), settings or TraceSettings()
    functions = render_header(names, model, catalogue.algorithms, settings, name)
    return functions + render_sections(names, model, catalogue, settings, name)


@pytest.fixture(scope="module", params=COMPILERS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All robots in one translation unit."""
    folder = tmp_path_factory.mktemp(request.param)
    lines = []
    for name, robot in ROBOTS.items():
        (folder / f"{name}.hpp").write_text(header(name))
        blocks = len(robot.model().coordinate_blocks)
        lines += [f'#include "{name}.hpp"', USE.format(n=name, count=blocks)]
    (folder / "use.cpp").write_text("\n".join(lines))
    flags = ["-std=c++17", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    done = subprocess.run(
        [request.param, *flags, "use.cpp", "-o", "use.so"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(folder / "use.so"))


def call(library: Any, name: str, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype = ctypes.c_bool
    return function(*(ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments))


@pytest.mark.parametrize("name", ROBOTS)
def test_numbers(library: Any, name: str) -> None:
    q, d, end = pairs(LABELS[name]) if LABELS[name] in MIXED else chain_pairs(name)
    model = ROBOTS[name].model()
    moved, delta = np.empty_like(q), np.empty_like(d)
    for s in range(len(q)):
        call(library, f"{name}_integrate", q[s], d[s], moved[s])
        call(library, f"{name}_difference", q[s], end[s], delta[s])
    np.testing.assert_allclose(moved, end, rtol=0, atol=1e-14 * max(1.0, np.abs(end).max()))
    np.testing.assert_allclose(delta, model.difference(q, end), rtol=0, atol=1e-13)


def chain_pairs(name: str) -> tuple[Array, Array, Array]:
    model = ROBOTS[name].model()
    q, d = model.random(0, 4), np.random.default_rng(0).normal(size=(4, model.nv))
    return q, d, model.integrate(q, d)


@pytest.mark.parametrize("name", ["one", "two"])
def test_jacobians_dense_and_by_blocks(library: Any, name: str) -> None:
    q, _, end = pairs(LABELS[name])
    model, n = ROBOTS[name].model(), ROBOTS[name].model().nv
    expected = reference(LABELS[name])("configuration_difference_jacobians", q=q, q_from=q, q_to=end)
    for s in range(len(q)):
        j_from, j_to = np.full((2, n, n), np.nan)
        call(library, f"{name}_jacobians", q[s], end[s], j_from, j_to)
        np.testing.assert_allclose(j_from.T, expected["j_from"][s], rtol=0, atol=1e-13)
        np.testing.assert_allclose(j_to.T, expected["j_to"][s], rtol=0, atol=1e-13)
        for number, (_, _, v0, _, nv) in enumerate(model.coordinate_blocks):
            own_from, own_to = np.full((2, 36), -7.0)
            assert call(library, f"{name}_block", number, q[s], end[s], own_from, own_to, nv * nv)
            span = slice(v0, v0 + nv)
            for own, dense in ((own_from, j_from), (own_to, j_to)):
                np.testing.assert_array_equal(own[: nv * nv].reshape(nv, nv), dense[span, span])
                assert (own[nv * nv :] == -7.0).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_refusals_write_nothing(library: Any, name: str) -> None:
    model = ROBOTS[name].model()
    q, blocks = model.neutral(), model.coordinate_blocks
    own_from, own_to, pose = np.full(36, -7.0), np.full(36, -7.0), np.full(16, -7.0)
    for number, (kind, q0, v0, nq, nv) in enumerate(blocks):
        record = np.zeros(5, np.int32)
        assert call(library, f"{name}_record", number, record)
        assert record.tolist() == [("scalar", "spherical", "floating").index(kind), q0, v0, nq, nv]
        assert not call(library, f"{name}_block", number, q, q, own_from, own_to, nv * nv - 1)
    for wrong in (-1, len(blocks)):
        record = np.zeros(5, np.int32)
        assert not call(library, f"{name}_record", wrong, record)
        assert record.tolist() == [-7] * 5
        assert not call(library, f"{name}_block", wrong, q, q, own_from, own_to, 36)
    for wrong in (-1, model.nb):
        assert not call(library, f"{name}_joint", wrong, q, pose)
        assert not call(library, f"{name}_scalar", wrong, ctypes.c_double(0.0), pose)
    for array in (own_from, own_to, pose):
        assert (array == -7.0).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_joints(library: Any, name: str) -> None:
    model = ROBOTS[name].model()
    q = model.random(0, 1)[0]
    robot = reference(LABELS[name]) if LABELS[name] in MIXED else None
    for number, joint in enumerate(model.joints):
        spoilt, pose = np.full_like(q, np.nan), np.full(16, np.nan)
        own = slice(joint.q_index, joint.q_index + joint.nq)
        spoilt[own] = q[own]
        assert call(library, f"{name}_joint", number, spoilt, pose)
        assert np.isfinite(pose).all()
        if robot is not None:
            expected = robot("joint_transform", joint=np.array([[float(number)]]), q=q[None])[0]
            np.testing.assert_allclose(pose.reshape(4, 4).T, expected, rtol=0, atol=1e-15)
        alone = np.full(16, -7.0)
        simple = joint.kind in ("revolute", "continuous", "prismatic") and joint.mimic is None
        assert call(library, f"{name}_scalar", number, ctypes.c_double(q[joint.q_index]), alone) == simple
        np.testing.assert_array_equal(alone, pose if simple else np.full(16, -7.0))


def test_frames_that_are_parameters_have_no_pose() -> None:
    text = header("one", TraceSettings(runtime=frozenset(["transform"])))
    assert "case 0: detail::pose_of_joint_0" not in text
    assert "always for this robot, whose joint frames are parameters" in text


def test_only_headers_with_the_family_have_it(tmp_path: Path) -> None:
    assert "coordinate_block" in header("one", algorithm="integrator_euler")
    assert "coordinate_block" not in header("one", algorithm="crba")
