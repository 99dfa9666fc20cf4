"""Frames that a caller names: names, ids, offsets and tools become numbers, and what is wrong becomes an error."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import numpy as np
import pytest

from grid_core.errors import ArgumentError
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Placement
from grid_core.plugins.robot_view import RobotView, Tool
from grid_plugins.kinematics import reading
from tests.oracle.robots import GOLDEN

TURN = np.array([[0.0, -1.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.2], [0.0, 0.0, 1.0, 0.3], [0.0, 0.0, 0.0, 1.0]])


@pytest.fixture(scope="module")
def robot() -> RobotView:
    return RobotView(GOLDEN["panda"].model(), TraceSettings())


def targets(robot: RobotView, names: Any = None, offsets: Any = None) -> tuple[list[float], list[Any]]:
    given = {"ee_joint_names": names, "ee_offsets": offsets}
    return reading.read_bodies(robot, given), [np.array(p) for p in reading.read_poses(robot, given)]


def test_names_and_ids(robot: RobotView) -> None:
    assert targets(robot, "panda_joint5")[0] == [4.0]
    assert targets(robot, ["panda_joint5", 2, np.int64(3), "panda_link0"])[0] == [4.0, 2.0, 3.0, -1.0]
    assert targets(robot, np.array(["panda_joint5", "panda_joint6"]))[0] == [4.0, 5.0]
    assert targets(robot)[0] == [7.0, 8.0], "the fingers"
    two = RobotView(robot.model, TraceSettings(end_effectors=("panda_hand_tcp_joint", "panda_joint4")))
    assert targets(two)[0] == [6.0, 3.0]


def test_fixed_joints_keep_their_offset(robot: RobotView) -> None:
    frame = robot.model.frame("panda_hand_tcp_joint")
    ((body,), (pose,)) = targets(robot, frame.name)
    assert body == frame.body == 6.0
    np.testing.assert_array_equal(pose[:, :3], frame.placement.rotation)
    np.testing.assert_array_equal(pose[:, 3], frame.placement.translation)
    assert np.linalg.norm(pose[:, 3]) > 0.1


@pytest.mark.parametrize("offset", [[0.1, 0.2, 0.3], (0.1, 0.2, 0.3, 1.0), np.float32([0.1, 0.2, 0.3])])
def test_a_point_is_in_the_axes_of_its_frame(robot: RobotView, offset: Any) -> None:
    frame = robot.model.frame("panda_joint8")
    ((_,), (pose,)) = targets(robot, frame.name, offset)
    expected = frame.placement @ Placement(np.eye(3), np.array([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(pose[:, 3], expected.translation, atol=1e-7)
    np.testing.assert_array_equal(pose[:, :3], frame.placement.rotation)


def test_one_offset_for_all_or_one_each(robot: RobotView) -> None:
    names = [f"panda_joint{n}" for n in (1, 2, 3, 4)]
    for count in (1, 2, 3, 4):
        some = names[:count]
        for single in ([0.1, 0.2, 0.3], TURN):
            shared, each = targets(robot, some, single)[1], targets(robot, some, [single] * count)[1]
            np.testing.assert_array_equal(shared, each)
            np.testing.assert_array_equal(each, targets(robot, some, np.array([single] * count))[1])
    rows = np.column_stack([0.1 * np.eye(4)[:, :3], np.ones(4)])  # four points with a 1 have the shape of one pose
    np.testing.assert_array_equal(np.array(targets(robot, names, rows)[1])[:, :, 3], rows[:, :3])
    mixed = targets(robot, names[:2], [TURN, [1.0, 2.0, 3.0]])[1]
    np.testing.assert_array_equal(mixed[0], TURN[:3])
    np.testing.assert_array_equal(mixed[1], np.column_stack([np.eye(3), [1.0, 2.0, 3.0]]))


def tool(robot: RobotView, tip: Placement | None) -> RobotView:
    frame = robot.model.frame("panda_joint8")
    return RobotView(robot.model, robot.settings, Tool(frame.name, frame.body, np.zeros(10), tip))


def test_the_tip_of_a_tool_is_the_default(robot: RobotView) -> None:
    tip = Placement(TURN[:3, :3], TURN[:3, 3])
    with_tool, place = tool(robot, tip), robot.model.frame("panda_joint8").placement @ tip
    bodies, (pose,) = targets(with_tool)
    assert bodies == [6.0]
    np.testing.assert_allclose(pose, np.column_stack([place.rotation, place.translation]), atol=1e-15)
    assert targets(with_tool, "panda_joint1")[0] == [0.0], "a named frame is that frame"
    assert targets(tool(robot, None))[0] == [7.0, 8.0], "a payload has no tip"


def test_where_a_tool_pushes(robot: RobotView) -> None:
    frame, tip = robot.model.frame("panda_joint8"), Placement(TURN[:3, :3], TURN[:3, 3])

    def contact(view: RobotView, joint: Any = None, offset: Any = None) -> tuple[float, list[float]]:
        given = {"joint": joint, "offset": offset}
        return reading.read_tool_body(view, given), list(reading.read_tool_point(view, given))

    at_tip = frame.placement.rotation @ TURN[:3, 3] + frame.placement.translation
    np.testing.assert_allclose(contact(tool(robot, tip))[1], at_tip, atol=1e-15)
    np.testing.assert_allclose(contact(robot, "panda_joint8", TURN)[1], at_tip, atol=1e-15)
    np.testing.assert_allclose(contact(tool(robot, None))[1], frame.placement.translation, atol=1e-15)
    assert contact(tool(robot, tip), "panda_joint3") == (2.0, [0.0, 0.0, 0.0]), "another joint, not the tool's tip"
    with pytest.raises(ArgumentError, match="no tool is attached; name the joint"):
        contact(robot)
    with pytest.raises(ArgumentError, match="'panda_link0' is fixed to the world"):
        contact(robot, "panda_link0")


class Choice(Enum):
    """As other libraries name it, with other numbers."""

    LOCAL = 1


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (None, None),
        ("LOCAL", 0),
        ("WORLD", 1),
        ("LOCAL_WORLD_ALIGNED", None),
        (0, 0),
        (1, 1),
        (2, None),
        (np.int32(1), 1),
        (Choice.LOCAL, 0),
    ],
)
def test_reference_frames(robot: RobotView, value: Any, number: int | None) -> None:
    assert reading.read_reference_frame(robot, {"reference_frame": value}) == number


def test_targets_of_jacobians(robot: RobotView) -> None:
    read = lambda name: reading.read_target(robot, {"target_jid": name})  # noqa: E731
    assert read(None) is None
    assert read("panda_finger_joint1") is None, "the default by its name"
    frame = robot.model.frame("panda_hand_tcp_joint")
    assert read(frame.name) == [6.0, *frame.placement.rotation.ravel(), *frame.placement.translation]
    assert read(4) == [4.0, *np.eye(3).ravel(), 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("names", "offsets", "message"),
    [
        ("panda_joint55", None, "no joint or link 'panda_joint55'; did you mean 'panda_joint5'"),
        (9, None, "ee_joint_names is 9, but the ids of movable joints are 0 to 8"),
        (-1, None, "ee_joint_names is -1, but the ids"),
        (True, None, "ee_joint_names is True, expected the name of a joint or link"),
        (2.0, None, "ee_joint_names is 2.0, expected the name"),
        ([], None, "ee_joint_names is empty"),
        (["panda_joint1"], [[0, 0, 0], [0, 0, 0]], "ee_offsets has 2 offsets for 1 targets"),
        (["panda_joint1"], [0.0, 0.0], "[0.0, 0.0] is no offset; expected [x, y, z], [x, y, z, 1] or a rigid 4x4"),
        (["panda_joint1"], [0.0, 0.0, 0.0, 2.0], "is no offset"),
        (["panda_joint1"], [np.nan, 0.0, 0.0], "is no offset"),
        (["panda_joint1"], 2.0 * np.eye(4), "is no offset"),
        (["panda_joint1"], np.diag([1.0, 1.0, -1.0, 1.0]), "is no offset"),
        (["panda_joint1"], "up", "is no offset"),
        (["panda_joint1"], 1.0, "is no offset"),
    ],
)
def test_mistakes(robot: RobotView, names: Any, offsets: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        targets(robot, names, offsets)


@pytest.mark.parametrize("value", ["LOCALE", 3, -1, True, 1.0, np.zeros(3)])
def test_reference_frames_that_do_not_exist(robot: RobotView, value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"expected 'LOCAL' \(0\), 'WORLD' \(1\), 'LOCAL_WORLD_ALIGNED' \(2\)"):
        reading.read_reference_frame(robot, {"reference_frame": value})
