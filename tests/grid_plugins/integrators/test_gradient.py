"""The derivative of a step against differences on the manifold, for every scheme and class of robots."""

from __future__ import annotations

import numpy as np
import pytest

from grid_plugins.integrators.backwards import WRITTEN_OUT
from grid_plugins.integrators.schemes import SCHEMES
from tests.grid_plugins.integrators.test_steps import ROBOTS, rough, step_inputs
from tests.oracle.evaluation import Array, relative_error
from tests.oracle.robots import GOLDEN
from tests.oracle.steps import step_gradient

NAMES = [scheme.name for scheme in SCHEMES]


@pytest.mark.parametrize("scheme", NAMES)
@pytest.mark.parametrize("label", ROBOTS)
def test_differences(label: str, scheme: str) -> None:
    reference, inputs = rough(label), step_inputs(ROBOTS[label], n=3)

    def step(**moved: Array) -> Array:
        return reference(f"integrator_{scheme}", **moved)

    expected = step_gradient(step, reference.model, inputs, 5e-4)
    assert relative_error(reference(f"integrator_gradient_{scheme}", **inputs), expected) < 1e-9


def test_both_ways_of_rows_are_covered() -> None:
    widths = [robot.model().nv for robot in (*ROBOTS.values(), *GOLDEN.values())]
    assert min(widths) <= WRITTEN_OUT < max(widths)


@pytest.mark.parametrize("scheme", ["semi_implicit_euler", "rk4", "rk4_mk"])
def test_tiny_turns(scheme: str) -> None:
    """Around rest the derivative changes by as much as the velocity: no digits are lost, nothing is no number."""
    reference, inputs = rough("mixed floating"), step_inputs(ROBOTS["mixed floating"], n=1)
    speeds = np.array([0.0, 1e-12, 1e-9, 1e-6])[:, None]
    inputs = {name: np.tile(value, (4, 1)) for name, value in inputs.items()}
    inputs["qd"] *= speeds
    inputs["u"] = reference("generalized_gravity", q=inputs["q"], gravity=inputs["gravity"])
    inputs["dt"] = np.full((4, 1), 0.1)
    gradient = reference(f"integrator_gradient_{scheme}", **inputs)
    assert np.isfinite(gradient).all()
    change = np.abs(gradient - gradient[0]).max(axis=(1, 2))
    assert (change <= 10.0 * speeds[:, 0] * np.abs(gradient[0]).max() + 1e-13).all()
