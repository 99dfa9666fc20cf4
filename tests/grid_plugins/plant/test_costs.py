"""Costs by differences on the manifold, their Gauss-Newton matrices, and barriers by differences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from grid_core.plugins.algorithm import resolve
from tests.oracle.derivatives import slope
from tests.oracle.evaluation import Inputs, Reference, algorithms, quiet_model, relative_error
from tests.oracle.robots import MIXED, TREES
from tests.oracle.steps import derivative_along_state, state, state_difference

ROBOTS = {**MIXED, "spherical joints": TREES["spherical joints"]}
ALONG_Q = ("ee_pos_cost", "com_cost")
ALONG_TANGENT = ("quadratic_state_cost_tangent", "momentum_cost")


@cache
def reference(label: str) -> Reference:
    return Reference(ROBOTS[label].model())


def sample(label: str, name: str, n: int = 6) -> Inputs:
    model = reference(label).model
    generator = np.random.default_rng(4)
    q, qd = model.random(5, n), generator.normal(size=(n, model.nv))
    width = 6 if name == "momentum_cost" else 3
    target, weights = generator.normal(size=(n, width)), generator.uniform(0.0, 2.0, (n, width))
    if name in ALONG_Q:
        return {"q": q, "p_des": target, "W": weights}
    if name == "momentum_cost":
        return {"q": q, "qd": qd, "h_des": target, "W": weights}
    desired = state(model.integrate(q, generator.normal(size=(n, model.nv))), generator.normal(size=(n, model.nv)))
    return {"x": state(q, qd), "x_des": desired, "Q": generator.uniform(0.0, 2.0, (n, 2 * model.nv))}


@pytest.mark.parametrize("name", [*ALONG_Q, *ALONG_TANGENT])
@pytest.mark.parametrize("label", ROBOTS)
def test_gradients_by_differences(label: str, name: str) -> None:
    robot, inputs = reference(label), sample(label, name)
    n = robot.model.nv
    found = robot(name, **inputs)
    width = n if name in ALONG_Q else 2 * n
    expected = derivative_along_state(robot, name, "value", inputs)[:, 0]
    assert relative_error(found["grad"][:, :width], expected[:, :width], 1.0) < 1e-8
    assert not found["grad"][:, width:].any()


@pytest.mark.parametrize("name", [*ALONG_Q, *ALONG_TANGENT])
@pytest.mark.parametrize("label", ROBOTS)
def test_hessians_are_semidefinite_and_exact_at_the_target(label: str, name: str) -> None:
    """Where the residual vanishes the Gauss-Newton matrix is the second derivative."""
    robot, inputs = reference(label), sample(label, name)
    n = robot.model.nv
    hessian = robot(name, **inputs)["hess"]
    np.testing.assert_array_equal(hessian, np.swapaxes(hessian, 1, 2))
    assert np.linalg.eigvalsh(hessian).min() > -1e-10 * np.abs(hessian).max()

    if name == "quadratic_state_cost_tangent":
        inputs["x_des"] = inputs["x"]
    elif name == "momentum_cost":
        inputs["h_des"] = robot("ccrba", q=inputs["q"], qd=inputs["qd"])["momentum"]
    elif name == "com_cost":
        inputs["p_des"] = robot("com", q=inputs["q"])["position"]
    else:
        inputs["p_des"] = robot("end_effector_pose", q=inputs["q"])[:, :3]
    hessian = robot(name, **inputs)["hess"]
    width = n if name in ALONG_Q else 2 * n
    expected = derivative_along_state(robot, name, "grad", inputs)[:, :, :width]
    assert relative_error(hessian[:, :, :width], expected, 1.0) < 1e-7
    assert not hessian[:, width:].any()


def test_the_state_tangent_is_the_models() -> None:
    robot, inputs = reference("mixed floating"), sample("mixed floating", "quadratic_state_cost_tangent")
    residual = state_difference(robot.model, inputs["x_des"], inputs["x"])
    found = robot("quadratic_state_cost_tangent", **inputs)["value"]
    np.testing.assert_allclose(found, 0.5 * np.sum(inputs["Q"] * residual**2, axis=1), rtol=1e-12)


@pytest.mark.parametrize("label", ROBOTS)
def test_the_whole_hessian_of_the_state_tangent(label: str) -> None:
    """It is the second derivative along one fixed tangent: that of the gradient moved along, made symmetric."""
    robot, inputs = reference(label), sample(label, "quadratic_state_cost_tangent")
    found = robot("quadratic_state_cost_tangent", **inputs, full_newton=np.ones((6, 1)))
    plain = robot("quadratic_state_cost_tangent", **inputs)
    moved = derivative_along_state(robot, "quadratic_state_cost_tangent", "grad", inputs)
    assert relative_error(found["hess"], 0.5 * (moved + np.swapaxes(moved, 1, 2)), 1.0) < 1e-8
    np.testing.assert_array_equal(found["grad"], plain["grad"])
    assert np.abs(found["hess"] - plain["hess"]).max() > 1e-2


def test_barriers_by_differences() -> None:
    robot = reference("mixed fixed")
    n, generator = robot.model.nv, np.random.default_rng(0)
    bounds = np.sort(generator.normal(size=(2, 5, n)), axis=0)
    bounds[0][:, 0], bounds[1][:, 1] = -np.inf, np.inf
    x = (
        np.clip(bounds[0], -3.0, 3.0)
        + generator.uniform(0.2, 0.8, (5, n)) * np.diff(np.clip(bounds, -3.0, 3.0), axis=0)[0]
    )
    given = {"lower": bounds[0], "upper": bounds[1], "mu": np.full(5, 0.3)}
    found = robot("joint_torque_barrier", var=x, **given)
    for k in range(n):
        step = np.eye(n)[k] * np.diff(np.clip(bounds, -3.0, 3.0), axis=0)[0][:, k, None]
        length = np.linalg.norm(step, axis=1)
        for name, of in (("value", "grad"), ("grad", "hess_diag")):
            values = slope(lambda t, s=step, v=name: robot("joint_torque_barrier", var=x + t * s, **given)[v], 1e-4)
            values = values[:, k] if values.ndim > 1 else values
            np.testing.assert_allclose(found[of][:, k] * length, values, rtol=1e-6, atol=1e-7)


LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
STILL = (
    f'<robot name="still">{LINK.format("a")}{LINK.format("b")}'
    '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'
)


KERNELS = [
    algorithm.name
    for algorithm in algorithms().values()
    if algorithm.emit and not algorithm.needs and algorithm.family in ("plant", "integrators")
]


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "com_cost"])
def test_a_robot_that_cannot_move(name: str) -> None:
    """Every kernel exists for it, but for the centre of the mass that moves, of which there is none."""
    robot = Reference(quiet_model(STILL))
    inputs = {i.name: np.ones((2, *resolve(i.shape, robot.dims))) for i in algorithms()[name].inputs}
    found = robot(name, **inputs)
    for value in found.values() if isinstance(found, dict) else (found,):
        assert np.isfinite(value).all()
