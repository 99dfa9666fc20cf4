"""The plant in the consumer header: two robots in one translation unit, the numbers of the interpreter, features."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_core.codegen.render import render_header
from grid_core.codegen.sections import render_sections
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.manager import load_catalogue
from grid_plugins.plant.activations import KINDS
from tests.grid_plugins.plant.test_menu import OUTPUTS, PARAMETERS, menu_inputs, reference, settings_of
from tests.oracle.evaluation import Array
from tests.oracle.robots import MIXED

COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
LABELS = {"one": "mixed fixed", "two": "mixed floating"}
NAMES = ("tracking_cost_menu", "integrator_euler", "integrator_gradient_euler", "generalized_gravity", "frame_jacobian")
USE = """
#if !{m}_PLANT_HAS_COST_MENU || !{m}_PLANT_HAS_STEP || !{m}_PLANT_HAS_STEP_GRADIENT || !{m}_PLANT_HAS_COST_FRAMES
#error "features are missing"
#endif
#ifdef {m}_PLANT_HAS_COM_COST
#error "a feature that the header does not have"
#endif
static_assert({m}_PLANT_MENU_TANGENT == 1 && {m}_PLANT_MENU_NU == {nu} && {m}_PLANT_MENU_NLX == {nlx}, "");
static_assert({m}_PLANT_NUM_COST_FRAMES == 2 && GRID_PLANT_TERMS == 8 && GRID_PLANT_TERM_VELOCITY == 6, "");
extern "C" {{
int {n}_scratch() {{ return {n}_plant::tracking_cost_menu_scratch() + {n}_plant::plant_step_gradient_euler_scratch(); }}
void {n}_menu(const double* const* p, double* const* out, double* ws) {{
    {n}_plant::cost_menu_params<double> params;
    {assignments}
    {n}_plant::tracking_cost_menu(p[0], p[1], params, out[0], out[1], out[2], out[3], out[4], ws);
}}
double {n}_activation(int quantity, int kind, const double* a) {{
    using namespace {n}_plant;
    if (quantity == 0) return activation_value(kind, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (quantity == 1) return activation_slope(kind, a[0], a[1], a[2], a[3], a[4], a[5]);
    return activation_curvature(kind, a[0], a[1], a[2], a[3], a[4], a[5]);
}}
bool {n}_frame(int number, const double* q, double* pose, double* jacobian) {{
    double ws[{n}_plant::frame_eval_scratch()];
    return {n}_plant::frame_eval(number, q, pose, jacobian, ws);
}}
int {n}_step_scratch() {{ return {n}_plant::plant_step_euler_scratch(); }}
void {n}_step(const double* x, const double* u, const double* dt, const double* g, double* next, double* ws) {{
    {n}_plant::plant_step_euler(x, u, dt, g, next, ws);
}}
void {n}_gravity(const double* q, const double* g, double* tau) {{
    double ws[{n}_plant::gravity_torque_scratch()];
    {n}_plant::gravity_torque(q, g, tau, ws);
}}
float {n}_single(const float* a) {{
    return {n}_plant::activation_value(GRID_PLANT_ACTIVATION_PSEUDO_HUBER, a[0], a[1], a[2], 0.0f, 0.0f, 0.0f);
}}
}}
"""


def header(name: str) -> str:
    catalogue, model = load_catalogue(), MIXED[LABELS[name]].model()
    names, settings = catalogue.closure(NAMES), settings_of(LABELS[name])
    functions = render_header(names, model, catalogue.algorithms, settings, name)
    return functions + render_sections(names, model, catalogue, settings, name)


@cache
def headers() -> dict[str, str]:
    return {name: header(name) for name in LABELS}


@pytest.fixture(scope="module", params=COMPILERS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Both robots in one translation unit."""
    folder = tmp_path_factory.mktemp(request.param)
    lines = []
    for name, text in headers().items():
        (folder / f"{name}.hpp").write_text(text)
        dims = reference(LABELS[name]).dims
        use = {"n": name, "m": name.upper(), "nu": dims["nu"], "nlx": dims["nl"] + dims["nv"]}
        use["assignments"] = " ".join(f"params.{p} = p[{i + 2}];" for i, p in enumerate(PARAMETERS))
        lines += [f'#include "{name}.hpp"', USE.format(**use)]
    (folder / "use.cpp").write_text("\n".join(lines))
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    done = subprocess.run(
        [request.param, *flags, "use.cpp", "-o", "use.so"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:3000]
    found = ctypes.CDLL(str(folder / "use.so"))
    for name in LABELS:
        getattr(found, f"{name}_activation").restype = ctypes.c_double
        getattr(found, f"{name}_single").restype = ctypes.c_float
        getattr(found, f"{name}_frame").restype = ctypes.c_bool
    return found


def pointers(arrays: list[Array | None]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(None if a is None else a.ctypes.data for a in arrays))


def call(library: Any, name: str, *arguments: Any) -> Any:
    given = (ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments)
    return getattr(library, name)(*given)


@pytest.mark.parametrize("left_out", [(), ("activation",), ("bounds",), ("activation", "bounds")])
@pytest.mark.parametrize("name", LABELS)
def test_the_menu(library: Any, name: str, left_out: tuple[str, ...]) -> None:
    robot, inputs = reference(LABELS[name]), menu_inputs(LABELS[name])
    expected = robot("tracking_cost_menu", **{k: v for k, v in inputs.items() if k not in left_out})
    ws = np.zeros(getattr(library, f"{name}_scratch")())
    for row in range(len(inputs["x"])):
        taken = [
            None if p in left_out else np.ascontiguousarray(inputs[p][row], float) for p in ("x", "u", *PARAMETERS)
        ]
        out = [np.full(np.shape(expected[o][row]), np.nan) for o in OUTPUTS]
        call(library, f"{name}_menu", pointers(taken), pointers(out), ws)
        for key, found in zip(OUTPUTS, out):
            np.testing.assert_allclose(found, expected[key][row], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_activations(library: Any, kind: str) -> None:
    from tests.grid_plugins.plant.test_activations import activated

    for v in (-1.2, 0.1, 0.7):
        entry = np.array([v, 0.7, 0.3, v, -1.0, 0.5])
        expected = activated(kind, r=v, w=0.7, eps=0.3, v=v, lo=-1.0, hi=0.5)[0]
        found = [call(library, "one_activation", q, KINDS.index(kind), entry) for q in range(3)]
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    single = call(library, "two_single", np.array([3.0, 2.0, 4.0], np.float32))
    assert single == pytest.approx(2.0 * (5.0 - 4.0), rel=1e-6)


@pytest.mark.parametrize("name", LABELS)
def test_frames_steps_and_gravity(library: Any, name: str) -> None:
    robot = reference(LABELS[name])
    model, n = robot.model, robot.model.nv
    q, generator = model.random(3, 1), np.random.default_rng(3)
    qd, u, gravity, dt = (
        generator.normal(size=(1, n)),
        generator.normal(size=(1, n)),
        np.array([[0, 0, -9.81]]),
        [[0.01]],
    )
    poses, names = robot("frame_transforms", q=q), [frame.name for frame in model.frames]
    for number, frame in enumerate(settings_of(LABELS[name]).cost_targets(model)):
        pose, jacobian = np.full((4, 4), np.nan), np.full((6, n), np.nan)
        assert call(library, f"{name}_frame", number, q, pose, jacobian)
        np.testing.assert_allclose(pose, poses[0, names.index(frame.name)], atol=1e-13)
    untouched = np.full((6, n), -7.0)
    assert not call(library, f"{name}_frame", 2, q, untouched, untouched)
    assert (untouched == -7.0).all()

    following, tau = np.full(model.nq + n, np.nan), np.full(n, np.nan)
    ws = np.zeros(getattr(library, f"{name}_step_scratch")())
    call(library, f"{name}_step", np.concatenate([q, qd], axis=1), u, np.array(dt), gravity, following, ws)
    expected = robot(
        "integrator_euler", q=q, qd=qd, u=u, dt=np.array(dt), gravity=gravity, f_ext=np.zeros((1, 6 * model.nb))
    )
    np.testing.assert_allclose(following, expected[0], atol=1e-11)
    call(library, f"{name}_gravity", q, gravity, tau)
    np.testing.assert_allclose(tau, robot("generalized_gravity", q=q, gravity=gravity)[0], atol=1e-11)


def test_headers_say_what_they_have() -> None:
    text = headers()["one"]
    has = set(re.findall(r"#define ONE_PLANT_HAS_(\w+) 1", text))
    pieces = ("STEP", "STEP_GRADIENT", "COST_MENU", "FRAME_EVAL", "GRAVITY_TORQUE", "ACTIVATIONS", "COST_FRAMES")
    assert has == set(pieces)
    catalogue = load_catalogue()
    model = MIXED["mixed fixed"].model()
    assert render_sections(("crba",), model, catalogue, TraceSettings()) == ""


DEVICE = """
#include "one.hpp"
#include "two.hpp"
__global__ void all(const float* x, const float* u, one_plant::cost_menu_params<float> p, float* out, float* ws) {
    one_plant::tracking_cost_menu(x, u, p, out, out, out, out, out, ws);
    two_plant::frame_eval(1, x, out, out, ws);
    two_plant::plant_step_gradient_euler(x, u, x, x, x, out, ws);
    out[0] = two_plant::activation_value(GRID_PLANT_ACTIVATION_QUADRATIC, x[0], x[1], x[2], x[3], x[4], x[5]);
}
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_device_code_compiles(tmp_path: Path) -> None:
    for name, text in headers().items():
        (tmp_path / f"{name}.hpp").write_text(text)
    (tmp_path / "use.cu").write_text(DEVICE)
    flags = ["-std=c++17", "-O0", "-arch=sm_90", "-Xcompiler", "-Wall,-Wextra,-Werror", "-Werror", "all-warnings", "-c"]
    done = subprocess.run(
        ["nvcc", *flags, "use.cu", "-o", "use.o"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:3000]
