"""The pose of a single joint's body: every joint class, names and ids, and what has no coordinate of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_core.errors import ArgumentError
from tests.oracle.evaluation import Array
from tests.oracle.robots import MIXED, TREES

pin = pytest.importorskip("pinocchio")

from tests.oracle.pinocchio import joint_model  # noqa: E402 - it needs Pinocchio

ROBOTS = {**MIXED, "mimic chains": TREES["mimic chains"], "planar joints": TREES["planar joints"]}


def pose(model: Any, number: int, q: Array) -> Array:
    """Return parent-from-child as Pinocchio says, of a robot with this joint alone."""
    joint, alone = model.joints[number], pin.Model()
    place = pin.SE3(np.array(joint.placement.rotation), np.array(joint.placement.translation))
    alone.addJoint(0, joint_model(joint), place, joint.name)
    data = alone.createData()
    pin.forwardKinematics(alone, data, joint.multiplier * q[joint.q_index : joint.q_index + joint.nq] + joint.offset)
    return data.oMi[1].homogeneous


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest, compiled: Callable[..., Any]) -> Any:
    chosen = ROBOTS[request.param]
    return compiled(chosen.urdf, floating_base=chosen.floating_base, dtype="float64", device="reference")


def test_every_joint(robot: Any) -> None:
    q = robot.random(0, 3)
    for number, name in enumerate(robot.joint_names):
        expected = [pose(robot.model, number, row) for row in q]
        for joint in (number, np.int32(number), name):
            np.testing.assert_allclose(robot.joint_transform(joint, q), expected, rtol=0, atol=1e-14)
    assert robot.joint_transform(0, q[0]).shape == (4, 4)


def test_only_its_own_coordinates_count(robot: Any) -> None:
    q = robot.random(0, 1)[0]
    for number, joint in enumerate(robot.model.joints):
        spoilt = np.full_like(q, np.nan)
        own = slice(joint.q_index, joint.q_index + joint.nq)
        spoilt[own] = q[own]
        np.testing.assert_array_equal(robot.joint_transform(number, spoilt), robot.joint_transform(number, q))


def test_by_the_coordinate_alone(robot: Any) -> None:
    q = robot.random(0, 3)
    for number, joint in enumerate(robot.model.joints):
        if joint.kind in ("revolute", "continuous", "prismatic") and joint.mimic is None:
            alone = robot.joint_transform_scalar(joint.name, q[:, joint.q_index])
            np.testing.assert_array_equal(alone, robot.joint_transform(number, q))
        else:
            with pytest.raises(ArgumentError, match=r"joint '\w+' (is|follows) .*use joint_transform"):
                robot.joint_transform_scalar(number, 0.5)


@pytest.mark.parametrize("joint", ["nobody", "l00", -1, 99, 1.0, None, True])
def test_there_is_no_such_joint(robot: Any, joint: Any) -> None:
    with pytest.raises(
        ArgumentError, match=r"joint is .*, expected the name of a movable joint, or its id from 0 to \d"
    ):
        robot.joint_transform(joint, robot.neutral())


def test_coordinate_blocks(robot: Any) -> None:
    blocks = [robot.coordinate_block(i) for i in range(robot.coordinate_block_count)]
    independent = [joint for joint in robot.model.joints if joint.mimic is None]
    assert [(b[1], b[3]) for b in blocks] == [(j.q_index, j.nq) for j in independent]
    assert sum(b[3] for b in blocks) == robot.nq
    assert sum(b[4] for b in blocks) == robot.nv
    assert {b[0]: b[4] for b in blocks}.items() <= {"scalar": 1, "spherical": 3, "floating": 6}.items()
    for wrong in (-1, len(blocks), 0.0, None, True):
        with pytest.raises(ArgumentError, match=r"coordinate_block: number is .*, expected an integer from 0 to"):
            robot.coordinate_block(wrong)
