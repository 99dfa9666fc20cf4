"""Many steps in one call, on compiled units and on the reference device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.trees import chain, describe

SMALL = describe(chain("spherical", "revolute"), 5)
DEVICES = {"compiled": {}, "reference": {"device": "reference"}}


@pytest.fixture(params=DEVICES)
def robot(request: pytest.FixtureRequest, compiled: Callable[..., Any]) -> Any:
    return compiled(SMALL, dtype="float64", **DEVICES[request.param])


def inputs(robot: Any, batch: int, count: int) -> tuple[Any, ...]:
    generator = np.random.default_rng(0)
    qd, u = generator.normal(size=(batch, robot.nv)), generator.normal(size=(batch, count, robot.nv))
    return robot.random(0, batch), qd, u, np.geomspace(1e-3, 1e-2, batch)


@pytest.mark.parametrize("scheme", ["euler", "rk4_mk"])
@pytest.mark.parametrize(("batch", "count"), [(19, 3), (3, 19), (1, 4)])
def test_it_is_one_step_after_another(robot: Any, scheme: str, batch: int, count: int) -> None:
    q, qd, u, dt = inputs(robot, batch, count)
    x, states, gradients = np.concatenate([q, qd], axis=1), [np.concatenate([q, qd], axis=1)], []
    for step in range(count):
        gradients.append(robot.plant_step_gradient(x, u[:, step], dt, integrator_type=scheme))
        x = robot.plant_step(x, u[:, step], dt, integrator_type=scheme)
        states.append(x)
    found, ab = robot.rollout_gradient(q, qd, u, dt, integrator_type=scheme)
    np.testing.assert_array_equal(found, np.stack(states, axis=1))
    np.testing.assert_array_equal(ab, np.stack(gradients, axis=1))
    np.testing.assert_array_equal(robot.rollout(q, qd, u, dt, integrator_type=scheme), found)


def test_the_plant_is_the_integrator(robot: Any) -> None:
    q, qd, u, dt = inputs(robot, 6, 1)
    x, wrenches = np.concatenate([q, qd], axis=1), np.ones((6, 6 * robot.nb))
    for more in ({}, {"gravity": -1.0}, {"f_ext": wrenches}):
        np.testing.assert_array_equal(
            robot.plant_step(x, u[:, 0], dt, **more), robot.integrator(q, qd, u[:, 0], dt, **more)
        )
    gradient = robot.plant_step_gradient(x[0], u[0, 0], 0.01)
    np.testing.assert_array_equal(gradient, robot.integrator_gradient(q[0], qd[0], u[0, 0], 0.01))


def test_wrenches_of_each_step(robot: Any) -> None:
    q, qd, u, dt = inputs(robot, 4, 3)
    wrenches = np.random.default_rng(1).normal(size=(4, 3, 6 * robot.nb))
    states = robot.rollout(q, qd, u, dt, f_ext=wrenches, gravity=0.0)
    last = robot.integrator(
        states[:, 2, : robot.nq], states[:, 2, robot.nq :], u[:, 2], dt, f_ext=wrenches[:, 2], gravity=0.0
    )
    np.testing.assert_array_equal(states[:, 3], last)


def test_results_in_the_memory_of_the_caller(robot: Any) -> None:
    q, qd, u, dt = inputs(robot, 9, 5)
    expected = robot.rollout(q, qd, u, dt)
    out = np.empty((9, 6, robot.nq + robot.nv))
    assert robot.rollout(q, qd, u, dt, out=out) is out
    np.testing.assert_array_equal(out, expected)
    wide = np.zeros((9, 6, robot.nq + robot.nv + 5))
    robot.rollout(q, qd, u, dt, out=wide[..., :-5])
    np.testing.assert_array_equal(wide[..., :-5], expected)
    assert not wide[..., -5:].any()
