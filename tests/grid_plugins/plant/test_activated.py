"""Costs under activations: gradients by differences on the manifold, semidefinite Hessians, turns up to half a one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid_core.errors import ArgumentError
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.frames import frame_numbers
from grid_core.plugins.robot_view import RobotView
from grid_plugins.plant.activations import KINDS
from grid_plugins.plant.features import read_frame
from tests.grid_plugins.plant.test_costs import ROBOTS
from tests.oracle.evaluation import Array, Inputs, Reference, relative_error
from tests.oracle.steps import derivative_along_state, state

FRAMES = ("frame_position_cost", "frame_orientation_cost", "frame_velocity_cost")
ALONG_TANGENT = ("state_cost_tangent", *FRAMES)
PLAIN = ("state_cost", "input_cost", "linear_feature_cost_x", "linear_feature_cost_u")
B = 5


@cache
def reference(label: str) -> Reference:
    return Reference(ROBOTS[label].model(), TraceSettings(cost_features=(3, 2)))


def rotations(phi: Array) -> Array:
    """Return the exponentials of rotation vectors."""
    angle = np.linalg.norm(phi, axis=-1)[..., None, None]
    zero = np.zeros(phi.shape[:-1])
    x, y, z = np.moveaxis(phi, -1, 0)
    cross = np.stack([np.stack(r, -1) for r in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], -2)
    half = np.sinc(0.5 * angle / np.pi)
    return np.eye(3) + np.sinc(angle / np.pi) * cross + 0.5 * half * half * cross @ cross


def sample(label: str, name: str, seed: int = 4) -> Inputs:
    """Return arguments with bounds of which about half are exceeded, and some infinite."""
    robot = reference(label)
    model, generator = robot.model, np.random.default_rng(seed)
    n, nx = model.nv, model.nq + model.nv
    q, qd = model.random(seed, B), generator.normal(size=(B, n))
    goal = state(model.integrate(q, generator.normal(size=(B, n))), generator.normal(size=(B, n)))
    rows = {"linear_feature_cost_x": (3, nx), "linear_feature_cost_u": (2, n)}.get(name, (0, 0))
    feature = {"A": (B, *rows), "b": (B, rows[0]), "target": (B, rows[0]), "W": (B, rows[0])}
    linear = {key: generator.normal(size=shape) for key, shape in feature.items()}
    inputs, size = {
        "state_cost": ({"x": state(q, qd), "x_des": goal, "Q": np.ones((B, nx))}, nx),
        "state_cost_tangent": ({"x": state(q, qd), "x_des": goal, "Q": np.ones((B, 2 * n))}, 2 * n),
        "input_cost": ({"u": qd, "u_des": goal[:, -n:], "R": np.ones((B, n))}, n),
        "linear_feature_cost_x": ({"x": state(q, qd), **linear}, 3),
        "linear_feature_cost_u": ({"u": qd, **linear}, 2),
        "frame_position_cost": ({"q": q, "p_des": generator.normal(size=(B, 3)), "W": np.ones((B, 3))}, 3),
        "frame_orientation_cost": (
            {"q": q, "R_des": rotations(generator.normal(size=(B, 3))), "W": np.ones((B, 3))}, 0
        ),
        "frame_velocity_cost": (
            {"q": q, "qd": qd, "v_des": generator.normal(size=(B, 6)), "W": np.ones((B, 6))}, 6
        ),
    }[name]  # fmt: skip
    for key in {"Q", "R", "W"} & inputs.keys():
        inputs[key] = generator.uniform(0.1, 2.0, inputs[key].shape)
    if size:
        inputs["lower"], inputs["upper"] = np.sort(generator.normal(size=(2, B, size)), axis=0)
        inputs["lower"][:, 0], inputs["upper"][:, -1] = -np.inf, np.inf
    return inputs


def kind(name: str) -> Inputs:
    return {"activation": np.full((B, 1), float(KINDS.index(name))), "eps": np.full((B, 1), 0.3)}


@pytest.mark.parametrize("activation", KINDS)
@pytest.mark.parametrize("name", ALONG_TANGENT)
@pytest.mark.parametrize("label", ROBOTS)
def test_gradients_along_the_tangent_by_differences(label: str, name: str, activation: str) -> None:
    robot, inputs = reference(label), sample(label, name) | kind(activation)
    found = robot(name, **inputs)["grad"]
    expected = derivative_along_state(robot, name, "value", inputs, 1e-4)[:, 0]
    assert relative_error(found, expected, 1.0) < 1e-6  # a bound may lie within a step


@pytest.mark.parametrize("activation", KINDS)
@pytest.mark.parametrize("name", PLAIN)
def test_gradients_of_plain_variables_by_differences(name: str, activation: str) -> None:
    robot, inputs = reference("mixed floating"), sample("mixed floating", name) | kind(activation)
    variable = "x" if "x" in inputs else "u"
    grad, hess = (robot(name, **inputs)[key] for key in ("grad", "hess"))
    step = 1e-5
    for i in range(grad.shape[1]):
        ahead, behind = (
            robot(name, **inputs | {variable: inputs[variable] + s * np.eye(grad.shape[1])[i]}) for s in (step, -step)
        )
        slopes = {key: (ahead[key] - behind[key]) / (2.0 * step) for key in ("value", "grad")}
        np.testing.assert_allclose(grad[:, i], slopes["value"], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(hess[:, i], slopes["grad"], rtol=1e-4, atol=1e-5)  # exact for linear residuals


@given(seed=st.integers(0, 2**16), activation=st.sampled_from(KINDS), name=st.sampled_from((*ALONG_TANGENT, *PLAIN)))
@settings(max_examples=60, deadline=None)
def test_hessians_are_symmetric_and_semidefinite(seed: int, activation: str, name: str) -> None:
    hessian = reference("mixed floating")(name, **sample("mixed floating", name, seed), **kind(activation))["hess"]
    np.testing.assert_array_equal(hessian, np.swapaxes(hessian, 1, 2))
    assert np.linalg.eigvalsh(hessian).min() >= -1e-12 * max(1.0, np.abs(hessian).max())


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-3])
def test_orientation_from_no_turn_to_nearly_half_a_turn(angle: float) -> None:
    """Value, gradient and, where the residual's own curvature vanishes, the Hessian."""
    robot = reference("mixed floating")
    inputs = sample("mixed floating", "frame_orientation_cost") | kind("quadratic")
    pose = robot("frame_motion", q=inputs["q"], qd=np.zeros((B, robot.model.nv)))["transform"][:, :3, :3]
    axes = np.random.default_rng(0).normal(size=(B, 3))
    phi = angle * axes / np.linalg.norm(axes, axis=1, keepdims=True)
    inputs["R_des"] = pose @ np.swapaxes(rotations(phi), 1, 2)
    found = robot("frame_orientation_cost", **inputs)
    np.testing.assert_allclose(found["value"], 0.5 * np.sum(inputs["W"] * phi**2, axis=1), rtol=1e-9, atol=1e-24)
    slopes = derivative_along_state(robot, "frame_orientation_cost", "value", inputs, 5e-5)[:, 0]
    assert relative_error(found["grad"], slopes, 1.0) < 1e-7
    if angle == 0.0:
        bend = derivative_along_state(robot, "frame_orientation_cost", "grad", inputs, 1e-3)
        assert relative_error(found["hess"], bend, 1.0) < 1e-9


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_a_call_and_of_the_build(name: str) -> None:
    """The first end effector has a kernel of its own, which gives what the general one gives for it."""
    robot = reference("mixed floating")
    inputs, model = sample("mixed floating", name) | kind("pseudo_huber"), robot.model
    first = TraceSettings().cost_targets(model)[0]
    chosen = robot(name, **inputs, frame=np.tile(frame_numbers(first), (B, 1)))
    other = robot(name, **inputs, frame=np.tile(frame_numbers(model.frame("j01")), (B, 1)))
    for key, expected in robot(name, **inputs).items():
        np.testing.assert_allclose(chosen[key], expected, rtol=1e-12, atol=1e-12)
        assert np.abs(other[key] - expected).max() > 1e-3


def test_reading_frames() -> None:
    model = reference("mixed floating").model
    view = RobotView(model, TraceSettings(end_effectors=("j02",)))
    read: Callable[[Any], Any] = lambda frame: read_frame(view, {"frame": frame})  # noqa: E731
    assert read(None) is None
    assert read("j02") is None
    assert read("j01") == read(model.joint_names.index("j01")) == frame_numbers(model.frame("j01"))
    with pytest.raises(ArgumentError, match="frame is 99, but the ids of movable joints are 0 to"):
        read(99)
