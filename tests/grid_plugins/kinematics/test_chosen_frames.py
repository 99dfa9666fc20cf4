"""Every frame of a robot, chosen when a method is called, against Pinocchio; in all three reference frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_core.model import Frame, Model
from tests.oracle.evaluation import Array
from tests.oracle.poses import error, kinematic_inputs, with_contacts
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES, Robot

pin = pytest.importorskip("pinocchio")
from tests.oracle.kinematics import KinematicsOracle  # noqa: E402

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}
OFFSET = pin.SE3(pin.rpy.rpyToMatrix(0.4, -0.7, 1.1), np.array([0.1, -0.2, 0.3])).homogeneous
REFERENCES = {
    "LOCAL": pin.ReferenceFrame.LOCAL,
    "WORLD": pin.ReferenceFrame.WORLD,
    "LOCAL_WORLD_ALIGNED": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}
ROBOTS = {**GOLDEN, **MIXED, **{name: TREES[name] for name in ("branches", "two trees in the world", "helical joints")}}
ROBOTS |= {"humanoid29": HUMANOIDS["humanoid29"]}


def frames_of(model: Model, most: int = 8) -> list[Frame]:
    """Return some frames, the world's first and the last ones among them."""
    by_name = {frame.name: model.frame(frame.name) for frame in model.frames}
    frames = sorted(by_name.values(), key=lambda frame: frame.body)
    return frames[:: max(1, len(frames) // most)] + frames[-1:]


class Case:
    """A robot with what is expected of each frame at each sample."""

    def __init__(self, robot: Robot, dtype: str) -> None:
        self.model = robot.model()
        self.oracle, self.frames = KinematicsOracle(self.model), frames_of(self.model)
        inputs = kinematic_inputs(self.model, with_contacts(self.model), 5, 4)
        self.q, self.qd = (inputs[name].astype(dtype).astype(float) for name in ("q", "qd"))

    def each(self, quantity: Callable[..., Array], *more: Any) -> Array:
        """Return ``quantity(sample, frame, *more)`` for every sample and frame, (B, frames, ...)."""
        samples = [{"q": q, "qd": qd} for q, qd in zip(self.q, self.qd, strict=True)]
        return np.array([[quantity(s, frame, *more) for frame in self.frames] for s in samples])


def check_poses(case: Case, handle: Any, dtype: str) -> None:
    names = [frame.name for frame in case.frames]
    for offset in (None, OFFSET):
        expected = case.each(case.oracle.pose, offset)
        level = (np.abs(np.cos(expected[..., 4])) > 0.1).all(axis=1)
        found = handle.end_effector_pose_runtime(case.q, names, offset)
        assert error("end_effector_pose_runtime", found[level], expected[level]) < TOLERANCE[dtype]
        slopes = case.each(case.oracle.gradient, offset)[level]
        found = handle.end_effector_pose_gradient_runtime(case.q[level], names, offset)
        assert error("", found, slopes) < 10 * TOLERANCE[dtype]


def check_jacobians(case: Case, handle: Any, dtype: str) -> None:
    for name, reference in REFERENCES.items():
        jacobians, rates = case.each(case.oracle.jacobian, reference), case.each(case.oracle.rate, reference)
        for n, frame in enumerate(case.frames):
            choice = {"target_jid": frame.name, "reference_frame": name}
            assert error("", handle.frame_jacobian(case.q, **choice), jacobians[:, n]) < TOLERANCE[dtype], choice
            assert error("", handle.frame_jacobian_dot(case.q, case.qd, **choice), rates[:, n]) < TOLERANCE[dtype], (
                choice
            )


def check_tools(case: Case, handle: Any, dtype: str) -> None:
    wrench = np.random.default_rng(3).normal(size=(len(case.q), 6)).astype(dtype)
    for frame in case.frames:
        if frame.body >= 0:
            found = handle.tool_fext(case.q, wrench, joint=frame.name)
            samples = [{"q": q} for q in case.q]
            wrenches = [case.oracle.body_wrench(s, frame, w.astype(float)) for s, w in zip(samples, wrench)]
            assert error("", found, np.array(wrenches)) < TOLERANCE[dtype]


@pytest.mark.parametrize("label", ROBOTS)
def test_interpreted(label: str, compiled: Callable[..., Any]) -> None:
    robot = ROBOTS[label]
    handle = compiled(robot.urdf, floating_base=robot.floating_base, dtype="float64", device="reference")
    case = Case(robot, "float64")
    for check in (check_poses, check_jacobians, check_tools):
        check(case, handle, "float64")


@pytest.mark.parametrize(("label", "dtype"), [("panda", "float32"), ("mixed floating", "float64")])
def test_compiled(label: str, dtype: str, compiled: Callable[..., Any]) -> None:
    robot = ROBOTS[label]
    handle = compiled(robot.urdf, floating_base=robot.floating_base, dtype=dtype)
    case = Case(robot, dtype)
    for check in (check_poses, check_jacobians, check_tools):
        check(case, handle, dtype)


def test_the_default_is_the_first_end_effector(compiled: Callable[..., Any]) -> None:
    robot = GOLDEN["panda"]
    handle = compiled(robot.urdf, dtype="float64", device="reference")
    q, qd = handle.random(2, 5), np.random.default_rng(2).normal(size=(5, handle.nv))
    for reference in (None, *REFERENCES):
        choice = {"reference_frame": reference}
        for named in ({}, {"target_jid": "panda_finger_joint1"}, {"target_jid": 7}):
            np.testing.assert_array_equal(
                handle.frame_jacobian(q, **choice, **named), handle.frame_jacobian(q, **choice)
            )
        other = handle.frame_jacobian(q, target_jid="panda_leftfinger", **choice)  # the same frame, chosen
        np.testing.assert_allclose(other, handle.frame_jacobian(q, **choice), atol=1e-14)
        other = handle.frame_jacobian_dot(q, qd, target_jid="panda_leftfinger", **choice)
        np.testing.assert_allclose(other, handle.frame_jacobian_dot(q, qd, **choice), atol=1e-13)
    np.testing.assert_array_equal(handle.frame_jacobian(q), handle.frame_jacobian(q, reference_frame=2))
    poses = handle.end_effector_pose(q).reshape(5, -1, 6)
    np.testing.assert_allclose(handle.end_effector_pose_runtime(q), poses, atol=1e-15)


def test_a_robot_that_cannot_move(compiled: Callable[..., Any]) -> None:
    """Its root link stands in for the end effector that it has not."""
    link = '<link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    handle = compiled(f'<robot name="still">{link}</robot>', dtype="float64", device="reference")
    q = np.zeros((2, 0))
    assert handle.end_effector_pose(q).shape == (2, 0)
    assert handle.frame_jacobian(q, target_jid="b").shape == handle.frame_jacobian(q).shape == (2, 6, 0)
    np.testing.assert_array_equal(handle.fk_batched(q), [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]] * 2)
    assert np.isfinite(handle.osc_inertia(q)).all()
