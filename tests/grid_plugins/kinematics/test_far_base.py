"""What does not depend on where a free base is has the same bits far from the origin, in single precision too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import Reference, inputs_of
from tests.oracle.poses import error, kinematic_inputs, with_contacts
from tests.oracle.robots import GOLDEN, MIXED

FAR = np.array([1e4, -1e4, 10.0])
ANYWHERE = (
    "end_effector_jacobian",
    "end_effector_pose_gradient",
    "end_effector_pose_hessian",
    "end_effector_log_pose_gradient",
    "frame_jacobian",
    "frame_jacobian_dot",
    "osc_inertia",
    "contact_fext",
    "contact_fext_gradient",
)


@pytest.fixture(params=["go2", "mixed floating"])
def case(request: pytest.FixtureRequest, compiled: Callable[..., Any]) -> tuple[Any, dict[str, Any], Any]:
    """A robot in single precision, inputs at the origin, and the exact algorithms."""
    robot = (GOLDEN | MIXED)[request.param]
    model = robot.model()
    chosen = with_contacts(model)
    handle = compiled(robot.urdf, floating_base=True, dtype="float32", contact_frames=chosen.contact_frames)
    inputs = {key: np.float32(value) for key, value in kinematic_inputs(model, chosen, 2, 60).items()}
    inputs["q"][:, :3] = 0.0
    return handle, inputs, Reference(model, chosen)


def far(inputs: dict[str, Any]) -> dict[str, Any]:
    q = inputs["q"].copy()
    q[:, :3] = FAR
    return inputs | {"q": q}


@pytest.mark.parametrize("name", ANYWHERE)
def test_derivatives(name: str, case: tuple[Any, dict[str, Any], Any]) -> None:
    handle, inputs, _ = case
    given = inputs_of(name, inputs)
    np.testing.assert_array_equal(getattr(handle, name)(**far(given)), getattr(handle, name)(**given))


@pytest.mark.parametrize("reference", ["LOCAL", "LOCAL_WORLD_ALIGNED"])
def test_chosen_frames(reference: str, case: tuple[Any, dict[str, Any], Any]) -> None:
    handle, inputs, _ = case
    choice = {"target_jid": len(handle.joint_names) - 1, "reference_frame": reference}
    for name in ("frame_jacobian", "frame_jacobian_dot"):
        given = inputs_of(name, inputs) | choice
        np.testing.assert_array_equal(getattr(handle, name)(**far(given)), getattr(handle, name)(**given))


def test_poses_are_as_exact_as_positions_can_be(case: tuple[Any, dict[str, Any], Any]) -> None:
    handle, inputs, exact = case
    q = far({"q": inputs["q"]})["q"]
    found, expected = handle.end_effector_placement(q), exact("end_effector_placement", q=q.astype(float))
    assert np.abs(found[..., :3] - expected[..., :3]).max() < 2.0 * np.spacing(np.float32(1e4))
    at_origin = handle.end_effector_placement(inputs["q"])
    np.testing.assert_array_equal(found[..., 3:], at_origin[..., 3:])
    assert error("end_effector_placement", at_origin, exact("end_effector_placement", q=inputs["q"])) < 2e-6
