"""Base parameters: their number is known for some robots, and they say all that joint forces say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import grid_rbd
from grid_core.errors import ArgumentError
from grid_core.kernel.lumping import lump
from grid_core.model import Model
from tests.oracle.evaluation import Reference, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED

ROBOTS = {**GOLDEN, **MIXED}
UP = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module", params=[*ROBOTS, "humanoid29"])
def model(request: pytest.FixtureRequest) -> Model:
    return (ROBOTS | HUMANOIDS)[request.param].model()


def test_they_say_all_that_joint_forces_say(model: Model) -> None:
    base = grid_rbd.base_parameters(model)
    inputs = inputs_of("inverse_dynamics_regressor", random_inputs(model, 11, 5, gravity=False))
    y = Reference(model)("inverse_dynamics_regressor", **inputs)
    assert relative_error(y[..., base.selection] @ base.combination, y) < 1e-8
    assert base.combination.shape == (base.rank, 10 * model.nb)
    np.testing.assert_array_equal(base.combination[:, base.selection], np.eye(base.rank))


def test_lumped_inertias_are_other_parameters_with_the_same_base(model: Model) -> None:
    base = grid_rbd.base_parameters(model)
    lumped = np.concatenate([[i.mass, *i.moment, *i.rotational] for i in lump(model).bodies])
    full = model.inertia_parameters.reshape(-1)
    np.testing.assert_allclose(base.combination @ lumped, base.combination @ full, atol=1e-8 * np.abs(full).max())


@pytest.mark.parametrize(("robot", "count"), [("iiwa14", 43), ("go2", 10 + 7 * 12), ("double_pendulum_continuous", 6)])
def test_known_numbers(robot: str, count: int) -> None:
    """A serial arm of seven joints has 43; a free base ten and each revolute joint that it carries seven.

    Of a planar pendulum's links the first moment across the axis and the inertia about it show.
    """
    model = ROBOTS[robot].model()
    assert grid_rbd.base_parameters(model).rank == count
    assert grid_rbd.base_parameters(model, seed=3).rank == count


def test_the_direction_of_gravity_matters_for_a_fixed_base() -> None:
    model = ROBOTS["iiwa14"].model()
    assert grid_rbd.base_parameters(model, gravity=(-9.81, 0.0, 0.0)).rank > grid_rbd.base_parameters(model).rank
    with pytest.raises(ArgumentError, match=r"gravity has shape \(2,\), expected a number or 3"):
        grid_rbd.base_parameters(model, gravity=(0.0, 1.0))


@pytest.mark.parametrize("robot", ["x.urdf", None, 5])
def test_what_is_no_robot_is_refused(robot: Any) -> None:
    with pytest.raises(ArgumentError, match=f"robot is {robot!r}, expected a handle"):
        grid_rbd.base_parameters(robot)


def test_a_handle_serves_as_well() -> None:
    robot = grid_rbd.load_robot(GOLDEN["double_pendulum_continuous"].urdf, device="reference")
    assert grid_rbd.base_parameters(robot).rank == grid_rbd.base_parameters(robot.model).rank
