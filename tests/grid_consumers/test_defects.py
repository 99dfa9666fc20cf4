"""Defects on the manifold: derivatives by differences, and what solving for the successor keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_consumers.defects import defect_from_prediction, defect_from_successor
from tests.oracle.derivatives import STENCIL
from tests.oracle.evaluation import Array
from tests.oracle.steps import state, state_difference
from tests.oracle.trees import chain, describe

WAYS = {"prediction": defect_from_prediction, "successor": defect_from_successor}


@pytest.fixture
def robot(compiled: Callable[..., Any]) -> Any:
    urdf = describe(chain("revolute", "spherical"), 8)
    return compiled(urdf, floating_base=True, dtype="float64", device="reference")


def sample(robot: Any) -> tuple[Array, Array, Array]:
    generator = np.random.default_rng(3)
    x = state(robot.random(0, 3), generator.normal(size=(3, robot.nv)))
    u = generator.normal(size=(3, robot.nv))
    moved = robot.model.integrate(x[:, : robot.nq], 0.7 * generator.normal(size=(3, robot.nv)))
    return x, u, state(moved, generator.normal(size=(3, robot.nv)))


def retract(robot: Any, x: Array, direction: Array) -> Array:
    n = robot.nv
    return state(robot.model.integrate(x[..., : robot.nq], direction[..., :n]), x[..., robot.nq :] + direction[..., n:])


def slopes(function: Callable[[Array], Array], width: int, step: float = 1e-3) -> Array:
    columns = []
    for direction in np.eye(width):
        values = [weight * function(k * step * direction) for k, weight in STENCIL.items()]
        columns.append(sum(values) / (60.0 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("way", WAYS)
def test_derivatives(robot: Any, way: str) -> None:
    x, u, s = sample(robot)
    n, dt = robot.nv, 0.05
    y, ab = robot.plant_step(x, u, dt), robot.plant_step_gradient(x, u, dt)
    defect = WAYS[way](robot, y, s, ab)

    def value(at: Array, force: Array, chosen: Array) -> Array:
        predicted = robot.plant_step(at, force, dt)
        pair = (predicted, chosen) if way == "prediction" else (chosen, predicted)
        return state_difference(robot.model, *pair)

    np.testing.assert_allclose(defect.value, value(x, u, s), rtol=0, atol=1e-13)
    by_input = slopes(lambda d: value(retract(robot, x, d[: 2 * n]), u + d[2 * n :], s), 3 * n)
    np.testing.assert_allclose(defect.by_input, by_input, rtol=0, atol=1e-7)
    by_successor = slopes(lambda d: value(x, u, retract(robot, s, d)), 2 * n)
    np.testing.assert_allclose(defect.by_successor, by_successor, rtol=0, atol=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_solved_for_the_successor(robot: Any, way: str) -> None:
    x, u, s = sample(robot)
    y, ab = robot.plant_step(x, u, 0.05), robot.plant_step_gradient(x, u, 0.05)
    defect = WAYS[way](robot, y, s, ab)
    normal = defect.normalised()
    change = np.random.default_rng(0).normal(size=(3, 3 * robot.nv, 1))
    successor = (normal.ab @ change)[..., 0] - normal.value
    residual = (defect.by_input @ change)[..., 0] + (defect.by_successor @ successor[..., None])[..., 0] + defect.value
    np.testing.assert_allclose(residual, 0.0, rtol=0, atol=1e-9)
    mu = np.random.default_rng(1).normal(size=(3, 2 * robot.nv))
    multiplier = normal.multiplier(mu)
    np.testing.assert_allclose(np.einsum("bi,bij->bj", multiplier, defect.by_successor), mu, rtol=0, atol=1e-11)


def test_without_rotations_they_are_plus_and_minus_one(compiled: Callable[..., Any]) -> None:
    robot = compiled(describe(chain("revolute", "prismatic"), 9), dtype="float64", device="reference")
    x, u, s = sample(robot)
    y, ab = robot.plant_step(x, u, 0.05), robot.plant_step_gradient(x, u, 0.05)
    defect = defect_from_prediction(robot, y, s, ab)
    np.testing.assert_array_equal(defect.by_successor, np.broadcast_to(np.eye(4), (3, 4, 4)))
    np.testing.assert_allclose(defect.normalised().ab, ab, rtol=0, atol=1e-15)
