"""Public robots against Pinocchio: frames at random configurations, inertias, and the configuration maps."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_core.model import Model, Placement

pin = pytest.importorskip("pinocchio")

ROBOTS = (
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "kinova_description/robots/kinova.urdf",
    "panda_description/urdf/panda.urdf",
    "romeo_description/urdf/romeo_small.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "ur_description/urdf/ur5_robot.urdf",
)
PINOCCHIO_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
SAMPLES = 3


def robot_file(name: str) -> Path:
    try:
        package = distribution("example_robot_data")
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / name


def pinocchio_configuration(model: Model, other: Any, q: np.ndarray) -> np.ndarray:
    """The same configuration in Pinocchio's slots; it stores a continuous angle as (cos, sin)."""
    result = pin.neutral(other)
    for joint in model.joints:
        there = other.joints[1 if joint.name == "floating_base_joint" else other.getJointId(joint.name)]
        value = q[joint.q_index : joint.q_index + joint.nq]
        if joint.nq == 1 and there.nq == 2:
            value = np.array([np.cos(value[0]), np.sin(value[0])])
        result[there.idx_q : there.idx_q + there.nq] = value
    return result


@pytest.fixture(scope="module", params=[(name, base) for name in ROBOTS for base in (False, True)], ids=str)
def pair(request: pytest.FixtureRequest, quiet_load: Callable[..., Model]) -> tuple[Model, Any]:
    name, floating_base = request.param
    path = robot_file(name)
    root = (pin.JointModelFreeFlyer(),) if floating_base else ()
    model = quiet_load(path, floating_base=floating_base, follow_mimic=False)
    return model, pin.buildModelFromUrdf(str(path), *root)


def test_joint_order(pair: tuple[Model, Any]) -> None:
    model, other = pair
    names = [name for name in other.names if name not in ("universe", "root_joint")]
    assert [name for name in model.joint_names if name != "floating_base_joint"] == names


def test_every_link_frame(
    pair: tuple[Model, Any], world_placements: Callable[[Model, Any], dict[str, Placement]]
) -> None:
    model, other = pair
    data = other.createData()
    for q in model.random(7, SAMPLES):
        frames = world_placements(model, q)
        pin.framesForwardKinematics(other, data, pinocchio_configuration(model, other, q))
        for frame in model.frames:
            if frame.kind == "link" and (frame.body >= 0 or not model.floating_base):  # Pinocchio frees a link "world"
                theirs = data.oMf[other.getBodyId(frame.name)]
                np.testing.assert_allclose(frames[frame.name].rotation, theirs.rotation, rtol=0, atol=1e-12)
                np.testing.assert_allclose(frames[frame.name].translation, theirs.translation, rtol=0, atol=1e-12)


def test_inertial_parameters(pair: tuple[Model, Any]) -> None:
    model, other = pair
    theirs = [other.inertias[1 + i].toDynamicParameters()[PINOCCHIO_ORDER] for i in range(model.nb)]
    np.testing.assert_allclose(model.inertia_parameters, theirs, rtol=1e-12, atol=1e-14)


def test_limits(pair: tuple[Model, Any]) -> None:
    model, other = pair
    for joint in model.joints:
        if joint.kind in ("revolute", "prismatic"):
            there = other.joints[other.getJointId(joint.name)]
            assert joint.lower == other.lowerPositionLimit[there.idx_q]
            assert joint.upper == other.upperPositionLimit[there.idx_q]
            assert joint.effort_limit == other.upperEffortLimit[there.idx_v]


@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "talos_data/robots/talos_full_v2.urdf"])
def test_followers_move_as_independent_joints_would(
    name: str, quiet_load: Callable[..., Model], world_placements: Callable[[Model, Any], dict[str, Placement]]
) -> None:
    path = robot_file(name)
    reduced, full = quiet_load(path), quiet_load(path, follow_mimic=False)
    other = pin.buildModelFromUrdf(str(path))
    data = other.createData()
    assert reduced.nq < full.nq
    for q in reduced.random(3, SAMPLES):
        q_full = np.array([joint.multiplier * q[joint.q_index] + joint.offset for joint in reduced.joints])
        frames = world_placements(reduced, q)
        pin.framesForwardKinematics(other, data, pinocchio_configuration(full, other, q_full))
        for link in (link for body in reduced.bodies for link in body.links):
            theirs = data.oMf[other.getBodyId(link)]
            np.testing.assert_allclose(frames[link].translation, theirs.translation, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def free_body(quiet_load: Callable[..., Model]) -> tuple[Model, Any]:
    text = """<robot name="ball"><link name="ball"><inertial><mass value="1"/>
              <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    return quiet_load(text, floating_base=True), pin.buildModelFromXML(text, pin.JointModelFreeFlyer())


ANGLES = (0.0, 1e-12, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.049, 0.051, 0.3, 1.0, 2.0, 3.0, 3.14159)


@pytest.mark.parametrize("angle", ANGLES)
def test_retraction_of_a_free_base(free_body: tuple[Model, Any], angle: float) -> None:
    model, other = free_body
    for q, step in zip(model.random(3, 5), np.random.default_rng(5).standard_normal((5, 6)), strict=True):
        step[3:] *= angle / np.linalg.norm(step[3:])
        ours, theirs = model.integrate(q, step), pin.integrate(other, q, step)
        np.testing.assert_allclose(ours[:3], theirs[:3], rtol=0, atol=1e-13)
        assert abs(ours[3:] @ theirs[3:]) == pytest.approx(1.0, abs=1e-14)
        np.testing.assert_allclose(model.difference(q, ours), step, rtol=0, atol=2e-14 / max(1e-2, np.pi - angle))


def test_difference_of_random_poses(free_body: tuple[Model, Any]) -> None:
    model, other = free_body
    start, end = model.random(11, 50), model.random(12, 50)
    theirs = [pin.difference(other, a, b) for a, b in zip(start, end, strict=True)]
    np.testing.assert_allclose(model.difference(start, end), theirs, rtol=0, atol=1e-11)
