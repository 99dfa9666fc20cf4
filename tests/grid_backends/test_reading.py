"""Arguments given as names, and calls that run once per item."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import ReferenceFunctions, RobotHandle, RobotRecord
from grid_core.errors import ArgumentError, PluginError
from grid_core.model import Model
from grid_core.plugins.algorithm import Absent, Input, Output
from grid_core.plugins.robot_view import RobotView
from tests.grid_backends.toys import declare
from tests.oracle.robots import GOLDEN

calls: list[Any] = []


def joint_ids(robot: RobotView, given: Mapping[str, Any]) -> Any:
    calls.append(given["joints"])
    names = given["joints"] or robot.model.joint_names
    return [[robot.model.frame(n).body] for n in ([names] if isinstance(names, str) else names)]


def offsets(robot: RobotView, given: Mapping[str, Any]) -> Any:
    return np.reshape(0.0 if given["offsets"] is None else given["offsets"], (-1, 1))


def sign(robot: RobotView, given: Mapping[str, Any]) -> Any:
    return {None: 1.0, "up": 1.0, "down": -1.0}[given["way"]]


Q = Input("q", ("nq",), "Configuration")
JOINTS = Input("joints", ("1",), "Names of joints", read=joint_ids, each=True)
OFFSETS = Input("offsets", ("1",), "One number per joint", read=offsets, each=True)
WAY = Input("way", (), "'up' or 'down'", read=sign, keyword_only=True)
HEIGHT = Output("height", ("2",), "Sum of the configuration and the id of the joint, and the offset")


def evaluate(name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    assert name == "heights"
    total = inputs["q"].sum(axis=1) + inputs["joints"][:, 0]
    return {"height": np.stack([inputs["way"][:, 0] * total, inputs["offsets"][:, 0]], axis=1)}


@pytest.fixture
def robot(model: Model) -> Any:
    calls.clear()
    heights = declare("heights", (HEIGHT,), (Q, JOINTS, OFFSETS, WAY))
    record = RobotRecord("flyer", model, {"heights": heights}, ("heights",), "float64")
    return RobotHandle(record, ReferenceFunctions(record, evaluate))


def test_errors_of_readers_begin_with_the_method(robot: Any) -> None:
    message = "^heights: robot .* has no joint or link 'axel'; did you mean 'axle'.*; its 'frames' are all that it has$"
    with pytest.raises(ArgumentError, match=message):
        robot.heights(np.zeros(9), "axel")


def test_items_are_the_last_batch_axis(robot: Any) -> None:
    q = np.arange(54.0).reshape(2, 3, 9)
    found = robot.heights(q, ["axle", "shoulder"], [0.5, 0.25])
    assert found.shape == (2, 3, 2, 2)
    np.testing.assert_array_equal(found[..., 0], q.sum(axis=-1)[..., None] + [2, 1])
    np.testing.assert_array_equal(found[..., 1], np.broadcast_to([0.5, 0.25], (2, 3, 2)))
    assert robot.heights(q[0, 0], "axle").shape == (1, 2)
    assert robot.heights(q).shape == (2, 3, 3, 2), "the default names every joint"
    assert robot.heights(q, ["axle", "axle"], 4.0).shape == (2, 3, 2, 2), "one offset serves all"
    assert robot.heights(q[:0], ["axle"]).shape == (0, 3, 1, 2)


def test_choices_become_numbers(robot: Any) -> None:
    q = np.ones(9)
    np.testing.assert_array_equal(robot.heights(q, "axle", way="down")[..., 0], -robot.heights(q, "axle")[..., 0])


def test_out_is_written_in_place(robot: Any) -> None:
    q, out = np.ones((4, 9)), np.full((4, 2, 2), np.nan)
    assert robot.heights(q, ["axle", "shoulder"], out=out) is out
    np.testing.assert_array_equal(out[..., 0], [[11.0, 10.0]] * 4)
    with pytest.raises(ArgumentError, match=r"out for 'height' has shape \(4, 2\), expected \(4, 2, 2\)"):
        robot.heights(q, ["axle", "shoulder"], out=np.empty((4, 2)))


def test_out_may_hold_the_arguments(compiled: Callable[..., Any]) -> None:
    handle = compiled(GOLDEN["iiwa14"].urdf, dtype="float64")
    memory = np.zeros((3, 2, 6))
    q = memory.reshape(3, 12)[:, :7]
    q[:] = handle.random(1, 3)
    names = ("iiwa_joint_4", "iiwa_joint_7")
    expected = handle.end_effector_pose_runtime(q.copy(), names)
    assert handle.end_effector_pose_runtime(q, names, out=memory) is memory
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("names", ["iiwa_joint_7", ("iiwa_joint_7", "iiwa_joint_4"), ()])
@pytest.mark.parametrize("batch", [(), (0,), (1,), (5,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiled_calls_for_each_item(
    dtype: str, batch: tuple[int, ...], names: Any, compiled: Callable[..., Any]
) -> None:
    """What is canonical goes another way than what is not; both give the same."""
    handle = compiled(GOLDEN["iiwa14"].urdf, dtype=dtype)
    q = handle.random(1, max(math.prod(batch), 1))[: math.prod(batch)].reshape(*batch, 7)
    if not names:
        with pytest.raises(ArgumentError, match="ee_joint_names is empty"):
            handle.end_effector_pose_runtime(q, names)
        return
    found = handle.end_effector_pose_runtime(q, names)
    listed = [names] if isinstance(names, str) else names
    assert found.shape == (*batch, len(listed), 6)
    for item, name in enumerate(listed):
        np.testing.assert_array_equal(found[..., item, :], handle.end_effector_pose_runtime(q, name)[..., 0, :])
    np.testing.assert_array_equal(handle.end_effector_pose_runtime(q.astype(float), names), found)
    out = np.full_like(found, np.nan)
    assert handle.end_effector_pose_runtime(q, names, out=out) is out
    np.testing.assert_array_equal(out, found)


def test_the_batch_may_be_last(robot: Any, compiled: Callable[..., Any]) -> None:
    q = np.arange(36.0).reshape(4, 9)
    found = robot.heights(q, ["axle", "shoulder"], [0.5, 0.25])
    robot.output_layout = "batch_last"
    last = robot.heights(q, ["axle", "shoulder"], [0.5, 0.25])
    assert np.moveaxis(last, -1, 0).flags.c_contiguous
    np.testing.assert_array_equal(last, found)
    handle = compiled(GOLDEN["iiwa14"].urdf, dtype="float64")
    q, names, out = handle.random(1, 4), ("iiwa_joint_4", "iiwa_joint_7"), np.zeros((6, 4, 2))
    handle.end_effector_pose_runtime(q, names, out=np.moveaxis(out, 0, -1))
    np.testing.assert_array_equal(np.moveaxis(out, 0, -1), handle.end_effector_pose_runtime(q, names))


def test_what_was_read_is_kept(robot: Any) -> None:
    for _ in range(3):
        robot.heights(np.ones(9), "axle")
        robot.heights(np.ones(9), ("axle", "shoulder"))
    assert calls == ["axle", ("axle", "shoulder")]
    names = ["axle"]
    for name in ("axle", "shoulder", "shoulder"):
        names[0] = name
        found = robot.heights(np.ones(9), names, np.array([0.5]))
        assert found[0, 0] == 9.0 + {"axle": 2, "shoulder": 1}[name], "a list may change"
    assert len(calls) == 4, "and is read once for each content"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["axle", "shoulder"], [1.0, 2.0, 3.0]), "'joints' has 2 items and 'offsets' has 3; give as many of both"),
        (("axles",), "did you mean 'axle'"),
    ],
)
def test_items_that_do_not_fit(robot: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        robot.heights(np.ones(9), *arguments)


def test_a_reader_may_leave_an_input_out(model: Model) -> None:
    def given_sign(robot: RobotView, given: Mapping[str, Any]) -> Any:
        return None if given["way"] in (None, "up") else -1.0

    def evaluate_absent(name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"height": np.tile([1.0, float("way" in inputs)], (len(inputs["q"]), 1))}

    way = Input("way", (), "", absent=Absent.VARIANT, read=given_sign)
    record = RobotRecord("flyer", model, {"heights": declare("heights", (HEIGHT,), (Q, way))}, ("heights",), "float64")
    handle: Any = RobotHandle(record, ReferenceFunctions(record, evaluate_absent))
    q = np.ones(9)
    assert [handle.heights(q)[1], handle.heights(q, "up")[1], handle.heights(q, "down")[1]] == [0.0, 0.0, 1.0]


def test_readers_have_to_keep_their_shape(model: Model) -> None:
    wrong: Callable[..., Any] = lambda robot, given: [1.0, 2.0]  # noqa: E731
    heights = declare("heights", (HEIGHT,), (Q, Input("way", ("3",), "", read=wrong)))
    record = RobotRecord("flyer", model, {"heights": heights}, ("heights",), "float64")
    handle: Any = RobotHandle(record, ReferenceFunctions(record, evaluate))
    with pytest.raises(PluginError, match=r"the reader of 'way' gave shape \(2,\), expected \(..., 3\)"):
        handle.heights(np.ones(9))


def test_documentation_says_what_to_pass(robot: Any) -> None:
    text = robot.heights.__doc__
    assert "joints : object, optional\n    Names of joints." in text
    assert "height : ndarray, shape (..., n, 2) for n items, float64" in text
