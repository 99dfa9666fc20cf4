"""Run-time tables and tools of handles, on the reference device: getters, setters, and what methods make of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import grid_rbd
from grid_backends.errors import NotAvailableError
from grid_core.errors import ArgumentError, OptionError
from grid_core.model.physical import broken_rule
from grid_core.trace.linalg import rotation_of_rpy
from tests.grid_core.units import GOLDEN

FILE = GOLDEN / "iiwa14.urdf"


@st.composite
def physical_bodies(draw: Any) -> Any:
    """Inertial parameters of point masses, few enough that the body may be a rod or a point."""
    number = st.floats(-2.0, 2.0, width=32)
    points = draw(st.lists(st.tuples(st.floats(0.125, 5.0, width=32), number, number, number), min_size=1, max_size=5))
    masses, places = np.array([p[0] for p in points]), np.array([p[1:] for p in points])
    moments = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, places))
    return np.concatenate([[masses.sum()], masses @ places, moments[np.triu_indices(3)]])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def golden() -> Any:
    return np.load(GOLDEN / "iiwa14.npz")


def robot(root: Path, **options: Any) -> grid_rbd.RobotHandle:
    return grid_rbd.load_robot(FILE, cache_dir=root, device="reference", dtype="float64", **options)


@pytest.fixture
def open_robot(root: Path) -> grid_rbd.RobotHandle:
    return robot(root, runtime_inertia=True, runtime_transform=True, runtime_joint_dynamics=True, friction_model="tanh")


def test_tables_begin_with_the_description(open_robot: grid_rbd.RobotHandle, golden: Any) -> None:
    np.testing.assert_allclose(open_robot.inertia_params, golden["inertia_params"], atol=1e-12)
    for own, described in zip(open_robot.transform_params, golden["transform_params"], strict=True):
        np.testing.assert_allclose(own[:3], described[:3], atol=1e-12)
        np.testing.assert_allclose(rotation_of_rpy(own[3:]), rotation_of_rpy(described[3:]), atol=1e-12)
    tau = open_robot.inverse_dynamics(golden["q"], golden["qd"], golden["qdd"])
    np.testing.assert_allclose(tau, golden["inverse_dynamics"], atol=1e-10)
    assert open_robot.model_version == 1


def test_setting_inertia(open_robot: grid_rbd.RobotHandle, golden: Any) -> None:
    before = open_robot.inertia_params
    open_robot.set_inertia_params(golden["set_inertia__params"].ravel())
    assert open_robot.model_version == 2
    np.testing.assert_array_equal(open_robot.inertia_params, golden["set_inertia__params"])
    for name, arguments in {
        "inverse_dynamics": ("q", "qd", "qdd"),
        "forward_dynamics": ("q", "qd", "u"),
        "crba": ("q",),
    }.items():
        found = getattr(open_robot, name)(*(golden[a] for a in arguments))
        expected = golden[f"set_inertia__{name}"]
        np.testing.assert_allclose(found, expected, atol=1e-9 * max(1.0, np.abs(expected).max()))
    open_robot.set_inertia_params(before)
    tau = open_robot.inverse_dynamics(golden["q"], golden["qd"], golden["qdd"])
    np.testing.assert_allclose(tau, golden["inverse_dynamics"], atol=1e-10)


def test_one_table_per_sample(open_robot: grid_rbd.RobotHandle, golden: Any) -> None:
    tables = np.stack([open_robot.inertia_params, golden["set_inertia__params"]])
    q, qd, qdd = (np.repeat(golden[name][:1], 2, axis=0) for name in ("q", "qd", "qdd"))
    tau = open_robot.inverse_dynamics(q, qd, qdd, inertia_params=tables)
    np.testing.assert_allclose(tau[0], golden["inverse_dynamics"][0], atol=1e-10)
    np.testing.assert_allclose(tau[1], golden["set_inertia__inverse_dynamics"][0], atol=1e-10)
    assert open_robot.model_version == 1, "the handle's own table stays"


def test_setters_change_only_what_is_passed(open_robot: grid_rbd.RobotHandle) -> None:
    open_robot.set_joint_dynamics(damping=0.5, friction=np.full(7, 0.2))
    open_robot.set_joint_dynamics(friction_width=0.1)
    np.testing.assert_array_equal(open_robot.joint_damping, np.full(7, 0.5))
    np.testing.assert_array_equal(open_robot.joint_friction, np.full(7, 0.2))
    np.testing.assert_array_equal(open_robot.joint_friction_width, np.full(7, 0.1))
    assert open_robot.model_version == 3
    q, qd = open_robot.random(0, 3), np.full((3, 7), 0.05)
    own = open_robot.inverse_dynamics(q, qd)
    open_robot.set_joint_dynamics(0.0, 0.0)
    drag = own - open_robot.inverse_dynamics(q, qd)
    np.testing.assert_allclose(drag, 0.5 * qd + 0.2 * np.tanh(qd / 0.1), atol=1e-12)


def test_joint_frames_move_the_dynamics(open_robot: grid_rbd.RobotHandle, golden: Any) -> None:
    moved = open_robot.transform_params
    moved[0, 2] += 5.0  # the whole robot goes up, and its torques stay
    open_robot.set_transform_params(moved)
    tau = open_robot.inverse_dynamics(golden["q"], golden["qd"], golden["qdd"])
    np.testing.assert_allclose(tau, golden["inverse_dynamics"], atol=1e-10)
    moved[3, 0] += 0.1
    open_robot.set_transform_params(moved)
    changed = open_robot.inverse_dynamics(golden["q"], golden["qd"], golden["qdd"])
    assert np.abs(changed - tau).max() > 0.1


def test_a_tool_adds_to_the_current_table(root: Path, golden: Any) -> None:
    arm = robot(root, enable_tool=True)
    assert arm.runtime_inertia
    tip = np.eye(4)
    tip[2, 3] = 0.1
    said = {name: golden[f"attach_tool__{name}"] for name in ("mass", "com", "inertia")}
    joint = str(golden["attach_tool__joint"])
    arm.attach_tool(joint, **said, tip_transform=tip)
    np.testing.assert_allclose(arm.inertia_params, golden["attach_tool__inertia_params"], atol=1e-12)
    tau = arm.inverse_dynamics(golden["q"], golden["qd"], golden["qdd"])
    np.testing.assert_allclose(tau, golden["attach_tool__inverse_dynamics"], atol=1e-10)
    tool = arm.tool
    assert tool is not None
    assert (tool["joint"], tool["row"]) == (joint, arm.model.frame(joint).body)
    np.testing.assert_array_equal(tool["Xtool"], tip)
    changed = arm.inertia_params
    changed[:, 0] += 1.0  # fetched with the tool, set with the tool
    arm.set_inertia_params(changed)
    np.testing.assert_allclose(arm.inertia_params, changed, atol=1e-15)
    arm.detach_tool()
    arm.detach_tool()
    assert arm.tool is None
    expected = golden["inertia_params"].copy()
    expected[:, 0] += 1.0
    np.testing.assert_allclose(arm.inertia_params, expected, atol=1e-12)
    assert arm.model_version == 4


def test_two_handles_have_tables_of_their_own(root: Path) -> None:
    one, other = robot(root, runtime_inertia=True), robot(root, runtime_inertia=True)
    one.set_inertia_params(2.0 * one.inertia_params)
    np.testing.assert_allclose(one.inertia_params, 2.0 * other.inertia_params)


def test_a_baked_robot_shows_its_values_and_refuses_others(root: Path, golden: Any) -> None:
    arm = robot(root, algorithm_list="crba")
    np.testing.assert_allclose(arm.inertia_params, golden["inertia_params"], atol=1e-12)
    for setter, value in (
        (arm.set_inertia_params, golden["inertia_params"]),
        (arm.set_transform_params, golden["transform_params"]),
        (arm.set_joint_dynamics, 1.0),
    ):
        with pytest.raises(NotAvailableError, match="register it with runtime_"):
            setter(value)
    with pytest.raises(NotAvailableError, match="runtime_inertia=True"):
        arm.attach_tool("iiwa_joint_7", mass=1.0)
    with pytest.raises(OptionError, match="friction_model='tanh'") as refused:
        _ = arm.joint_friction_width
    assert isinstance(refused.value, AttributeError)
    with pytest.raises(AttributeError, match="did you mean 'configuration_integrate'"):
        arm.integrate(golden["q"], golden["qd"])
    with pytest.raises(TypeError, match="inertia_params"):
        arm.crba(golden["q"], inertia_params=arm.inertia_params)


@pytest.mark.parametrize(
    ("entries", "rule"),
    [
        ({0: -1.0}, "its mass is -1 kg, which must not be negative"),
        ({0: 0.0}, "it has a first moment without a mass"),
        ({4: -0.5}, "its principal moments about the centre of mass, .* break the triangle inequality"),
        ({4: 9.0}, "its principal moments about the centre of mass, .* break the triangle inequality"),
        ({1: 3.0}, "its principal moments about the centre of mass, .* break the triangle inequality"),
    ],
)
def test_bodies_that_cannot_be_are_used_with_a_warning(
    open_robot: grid_rbd.RobotHandle, entries: dict[int, float], rule: str
) -> None:
    params = open_robot.inertia_params
    params[2, list(entries)] = list(entries.values())
    message = f"set_inertia_params: the body that 'iiwa_joint_3' moves: {rule}.*; it is used as given"
    with pytest.warns(grid_rbd.UnphysicalInertiaWarning, match=message) as caught:
        open_robot.set_inertia_params(params)
    assert [warning.filename for warning in caught] == [__file__]
    np.testing.assert_array_equal(open_robot.inertia_params, params)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(grid_rbd.UnphysicalInertiaWarning):
            open_robot.set_inertia_params(params)
    assert open_robot.model_version == 2, "as an error it changes nothing"


def test_tools_that_cannot_be_are_used_with_a_warning(open_robot: grid_rbd.RobotHandle) -> None:
    with pytest.warns(grid_rbd.UnphysicalInertiaWarning, match="attach_tool: the tool: its principal moments"):
        open_robot.attach_tool("iiwa_joint_7", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(-1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    assert open_robot.tool is not None


@given(bodies=physical_bodies())
def test_bodies_that_can_be_break_no_rule(bodies: Any) -> None:
    for dtype in ("float64", "float32"):
        assert broken_rule(bodies.astype(dtype).astype("float64")) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.set_inertia_params(np.ones((6, 10))), r"params has shape \(6, 10\), expected \(7, 10\) or 70"),
        (lambda r: r.set_inertia_params(np.full((7, 10), np.nan)), r"params is nan at \(0, 0\)"),
        (lambda r: r.set_inertia_params("heavy"), "params has dtype"),
        (lambda r: r.set_joint_dynamics(damping=[1.0, 2.0]), r"damping has shape \(2,\), expected \(7,\)"),
        (lambda r: r.set_joint_dynamics(friction_width=0.0), "friction_width is 0.0, expected positive"),
        (lambda r: r.set_joint_dynamics(armature=np.inf), "armature is inf"),
        (lambda r: r.set_inertia_params(np.full((7, 10), 1e300)), r"params is 1e\+300 at \(0, 0\); .* at most 1e\+09"),
        (lambda r: r.attach_tool("iiwa_joint_7", mass=1e300), r"mass is 1e\+300, .* at most 1e\+09"),
        (lambda r: r.attach_tool("iiwa_joint_77", mass=1.0), "attach_tool: robot .*did you mean 'iiwa_joint_7'"),
        (lambda r: r.attach_tool("iiwa_joint_7", mass=-1.0), "mass is -1.0, expected at least 0"),
        (lambda r: r.attach_tool("iiwa_joint_7", mass=1.0, com=[0, 0]), "com is .*expected \\(3,\\)"),
        (lambda r: r.attach_tool("iiwa_joint_7", mass=1.0, inertia=np.arange(9.0).reshape(3, 3)), "not symmetric"),
        (lambda r: r.attach_tool("iiwa_joint_7", mass=1.0, tip_transform=2 * np.eye(4)), "tip_transform is no pose"),
    ],
)
def test_wrong_values_change_nothing(open_robot: grid_rbd.RobotHandle, call: Any, message: str) -> None:
    before = open_robot.inertia_params
    with pytest.raises(ArgumentError, match=message):
        call(open_robot)
    assert open_robot.model_version == 1
    assert open_robot.tool is None
    np.testing.assert_array_equal(open_robot.inertia_params, before)
