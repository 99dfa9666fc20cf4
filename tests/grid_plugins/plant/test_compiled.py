"""Compiled costs: numbers of the interpreter in both precisions, names read by the handle, rows alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_core.errors import ArgumentError
from tests.oracle.evaluation import relative_error
from tests.oracle.trees import chain, describe

ROBOT = {"urdf": describe(chain("spherical", "revolute"), 5), "floating_base": True}
TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
BATCH = 19


def arguments(robot: Any) -> dict[str, dict[str, Any]]:
    """Return the arguments of some costs, in the precision of the robot."""
    generator = np.random.default_rng(0)
    n = robot.nv
    q, goal = robot.random(0, BATCH), robot.random(1, BATCH)
    qd, qd_des = generator.normal(size=(2, BATCH, n))
    lower, upper = np.sort(generator.normal(size=(2, BATCH, 2 * n)), axis=0)
    names = generator.choice(["none", "pseudo_huber", "relaxed_log_barrier", "smooth_hinge"], BATCH)
    state = {"x": np.concatenate([q, qd], axis=1), "x_des": np.concatenate([goal, qd_des], axis=1)}
    weights = generator.uniform(0.1, 2.0, (BATCH, 2 * n))
    rotation = np.linalg.qr(generator.normal(size=(BATCH, 3, 3)))[0]
    rotation *= np.linalg.det(rotation)[:, None, None]
    found: dict[str, dict[str, Any]] = {
        "quadratic_state_cost_tangent": {**state, "Q": weights, "full_newton": True},
        "state_cost_tangent": {**state, "Q": weights, "activation": names, "eps": 0.2, "lower": lower, "upper": upper},
        "frame_orientation_cost": {"q": q, "R_des": rotation, "W": weights[:, :3], "activation": "pseudo_huber"},
        "frame_velocity_cost": {"q": q, "qd": qd, "v_des": qd_des[:, :6], "W": weights[:, :6], "frame": "j00"},
    }
    return {
        name: {
            key: value.astype(robot.dtype) if getattr(value, "dtype", None) == np.float64 else value
            for key, value in given.items()
        }
        for name, given in found.items()
    }


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_numbers(dtype: str, compiled: Callable[..., Any]) -> None:
    robot, exact = compiled(**ROBOT, dtype=dtype), compiled(**ROBOT, dtype="float64", device="reference")
    for name, given in arguments(robot).items():
        found = getattr(robot, name)(**given)
        expected = getattr(exact, name)(
            **{key: x.astype(float) if getattr(x, "dtype", None) == dtype else x for key, x in given.items()}
        )
        for ours, theirs in zip(found, expected):
            assert ours.dtype == dtype
            assert relative_error(ours.reshape(BATCH, -1), theirs.reshape(BATCH, -1), 1.0) < TOLERANCE[dtype], name


def test_a_row_is_the_same_alone(compiled: Callable[..., Any]) -> None:
    robot = compiled(**ROBOT, dtype="float64")
    for name, given in arguments(robot).items():
        whole = getattr(robot, name)(**given)
        for row in (0, 7, 18):
            one = {key: x[row] if isinstance(x, np.ndarray) else x for key, x in given.items()}
            for ours, all_rows in zip(getattr(robot, name)(**one), whole):
                np.testing.assert_array_equal(ours, all_rows[row])


def test_what_is_no_choice_is_an_error(compiled: Callable[..., Any]) -> None:
    robot = compiled(**ROBOT, dtype="float64", device="reference")
    given = arguments(robot)
    with pytest.raises(ArgumentError, match="full_newton is 'yes', expected True or False"):
        robot.quadratic_state_cost_tangent(**given["quadratic_state_cost_tangent"] | {"full_newton": "yes"})
    with pytest.raises(ArgumentError, match="activation is 'huber'"):
        robot.state_cost_tangent(**given["state_cost_tangent"] | {"activation": "huber"})
