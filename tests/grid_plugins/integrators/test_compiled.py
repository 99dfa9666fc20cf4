"""Compiled steps and gradients: numbers of the interpreter in both precisions, rows that do not depend on others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_plugins.integrators.backwards import WRITTEN_OUT
from tests.oracle.evaluation import Array, relative_error
from tests.oracle.trees import chain, describe

SMALL = {"urdf": describe(chain("spherical", "revolute"), 5)}
LARGE = {"urdf": describe(chain("revolute", "revolute", "prismatic"), 6), "floating_base": True}
CASES = {
    "small float64": ({**SMALL, "dtype": "float64"}, 1e-12),
    "small float32": ({**SMALL, "dtype": "float32"}, 3e-5),
    "large float64": ({**LARGE, "dtype": "float64"}, 1e-11),
}
METHODS = ("integrator", "integrator_gradient")


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, compiled: Callable[..., Any]) -> tuple[Any, Any, float]:
    options, tolerance = CASES[request.param]
    return compiled(**options), compiled(**{**options, "dtype": "float64"}, device="reference"), tolerance


def sample(robot: Any, batch: int = 37) -> tuple[dict[str, Array], Array]:
    """Return arguments of a step in the robot's precision, and wrenches."""
    generator = np.random.default_rng(0)
    qd, u = generator.normal(size=(2, batch, robot.nv))
    given = {"q": robot.random(0, batch), "qd": qd, "u": u, "dt": np.geomspace(1e-4, 3e-2, batch)}
    wrenches = 0.1 * generator.normal(size=(batch, 6 * robot.nb))
    return {name: np.asarray(value, robot.dtype) for name, value in given.items()}, np.asarray(wrenches, robot.dtype)


def test_both_ways_of_rows_are_compiled(compiled: Callable[..., Any]) -> None:
    widths = [compiled(**options).nv for options, _ in CASES.values()]
    assert min(widths) <= WRITTEN_OUT < max(widths)


@pytest.mark.parametrize("method", METHODS)
def test_numbers(case: tuple[Any, Any, float], method: str) -> None:
    robot, reference, tolerance = case
    given, wrenches = sample(robot)
    for more in ({}, {"f_ext": wrenches}):
        found = getattr(robot, method)(**given, **more, integrator_type="rk4_mk")
        exact = {name: np.asarray(value, float) for name, value in {**given, **more}.items()}
        expected = getattr(reference, method)(**exact, integrator_type="rk4_mk")
        assert found.dtype == robot.dtype
        assert relative_error(found, expected) < tolerance


@pytest.mark.parametrize("method", METHODS)
def test_a_row_is_the_same_alone(case: tuple[Any, Any, float], method: str) -> None:
    robot, _, _ = case
    given, wrenches = sample(robot)
    given["f_ext"] = wrenches
    call = getattr(robot, method)
    whole = call(**given, integrator_type="rk4_mk")
    for row in (0, 7, 8, 36):
        alone = call(**{name: value[row] for name, value in given.items()}, integrator_type="rk4_mk")
        np.testing.assert_array_equal(alone, whole[row])
    np.testing.assert_array_equal(
        call(**{name: value[5:22] for name, value in given.items()}, integrator_type="rk4_mk"), whole[5:22]
    )
