"""Steps against their textbook formulas on every class of robots, with wrenches and joint dynamics."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from grid_core.kernel.settings import TraceSettings
from grid_plugins.integrators.schemes import SCHEMES
from tests.oracle.evaluation import Inputs, Reference, random_inputs, relative_error
from tests.oracle.robots import MIXED, TREES, Robot
from tests.oracle.steps import textbook_step

ROBOTS = {**MIXED, "spherical joints": TREES["spherical joints"]}
ROUGH = TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=0.3)
TEXTBOOK = [scheme.name for scheme in SCHEMES if not scheme.on_group]


@cache
def rough(label: str) -> Reference:
    """Return the algorithms of a robot with joint dynamics; traced kernels are shared by all tests."""
    return Reference(ROBOTS[label].model(), ROUGH)


def step_inputs(robot: Robot, seed: int = 3, n: int = 5) -> Inputs:
    """Return inputs of a step, with steps from short to so long that joints turn by radians."""
    inputs = random_inputs(robot.model(), seed, n)
    inputs["dt"] = np.geomspace(1e-3, 0.1, n)[:, None]
    return {name: inputs[name] for name in ("q", "qd", "u", "dt", "gravity", "f_ext")}


@pytest.mark.parametrize("scheme", TEXTBOOK)
@pytest.mark.parametrize("label", ROBOTS)
def test_textbook(label: str, scheme: str) -> None:
    reference, inputs = rough(label), step_inputs(ROBOTS[label])
    held = {name: inputs[name] for name in ("u", "gravity", "f_ext")}

    def accelerate(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return reference("forward_dynamics", q=q, qd=qd, **held)

    expected = textbook_step(reference.model, scheme, accelerate, inputs["q"], inputs["qd"], inputs["dt"])
    assert relative_error(reference(f"integrator_{scheme}", **inputs), expected) < 1e-11


@pytest.mark.parametrize("scheme", [scheme.name for scheme in SCHEMES])
def test_no_time_no_motion(scheme: str) -> None:
    reference, inputs = rough("mixed floating"), step_inputs(MIXED["mixed floating"])
    inputs["dt"] *= 0.0
    still = np.concatenate([inputs["q"], inputs["qd"]], axis=1)
    np.testing.assert_allclose(reference(f"integrator_{scheme}", **inputs), still, rtol=0, atol=1e-14)
    n = reference.model.nv
    gradient = reference(f"integrator_gradient_{scheme}", **inputs)
    np.testing.assert_allclose(gradient, np.broadcast_to(np.eye(2 * n, 3 * n), gradient.shape), rtol=0, atol=1e-13)


@pytest.mark.parametrize("scheme", ["euler", "rk4", "rk4_mk"])
def test_quaternions_of_any_length(scheme: str) -> None:
    reference, inputs = rough("mixed floating"), step_inputs(MIXED["mixed floating"])
    longer = {**inputs, "q": inputs["q"].copy()}
    for kind, q0, _, nq, _ in reference.model.configuration_layout:
        if kind != "euclidean":
            longer["q"][:, q0 + nq - 4 : q0 + nq] *= 1.7
    for name in (f"integrator_{scheme}", f"integrator_gradient_{scheme}"):
        assert relative_error(reference(name, **longer), reference(name, **inputs)) < 1e-12
