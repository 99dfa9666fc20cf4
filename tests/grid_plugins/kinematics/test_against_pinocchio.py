"""Named robots against Pinocchio: every joint class on the interpreter, the main robots compiled in both precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import Array, Inputs, Reference, inputs_of
from tests.oracle.poses import COMPILED_DAILY, PLAIN, error, kinematic_inputs, with_contacts
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES, Robot

pytest.importorskip("pinocchio")
from tests.oracle.kinematics import KinematicsOracle

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}
BIG = ("end_effector_pose", "frame_jacobian_dot")
"""What is compiled of a humanoid unless slow tests are asked for; golden cases cover the golden robots."""

STEEP = {"end_effector_pose", "end_effector_pose_gradient"}
LOGARITHMS = {"end_effector_log_pose", "end_effector_log_pose_gradient"}


def comparable(name: str, oracle: KinematicsOracle, q: Array) -> Any:
    """Return the samples at which an algorithm has a result that no rounding turns over."""
    if not {name} <= STEEP | LOGARITHMS:
        return slice(None)
    rotations = np.array([[oracle.placement({"q": x}, frame).rotation for frame in oracle.ends] for x in q])
    if name in STEEP:
        return (np.abs(rotations[:, :, 2, 0]) < 0.99).all(axis=1)
    cosines = 0.5 * (np.trace(rotations, axis1=2, axis2=3) - 1.0)
    return (cosines > -0.99).all(axis=1)


def check(call: Callable[..., Any], robot: Robot, name: str, dtype: str) -> None:
    model = robot.model()
    settings = with_contacts(model)
    oracle, inputs = KinematicsOracle(model, settings), kinematic_inputs(model, settings, 3, 12)
    if dtype == "float32":
        inputs = {key: value.astype(np.float32).astype(np.float64) for key, value in inputs.items()}
    where = comparable(name, oracle, inputs["q"])
    given: Inputs = {key: value[where] for key, value in inputs_of(name, inputs).items()}
    theirs = oracle(name, **given)
    assert error(name, call(name, **given), theirs) < TOLERANCE[dtype]


COMPILED = [
    pytest.param(robot, name, dtype, id=f"{label}-{name}-{dtype}", marks=[] if everyday else [pytest.mark.slow])
    for label, robot in {**GOLDEN, **MIXED, **HUMANOIDS}.items()
    for name in PLAIN
    for dtype in TOLERANCE
    for everyday in [(label, dtype) in COMPILED_DAILY or (label == "humanoid29" and name in BIG and dtype == "float32")]
]


@pytest.mark.parametrize(
    "robot", [*GOLDEN.values(), *TREES.values(), *HUMANOIDS.values()], ids=[*GOLDEN, *TREES, *HUMANOIDS]
)
def test_interpreted(robot: Robot) -> None:
    reference = Reference(robot.model(), with_contacts(robot.model()))
    for name in PLAIN:
        check(reference, robot, name, "float64")


@pytest.mark.parametrize(("robot", "name", "dtype"), COMPILED)
def test_compiled(robot: Robot, name: str, dtype: str, compiled: Callable[..., Any]) -> None:
    contacts = with_contacts(robot.model()).contact_frames
    handle = compiled(robot.urdf, floating_base=robot.floating_base, dtype=dtype, contact_frames=contacts)
    check(lambda name, **inputs: getattr(handle, name)(**inputs), robot, name, dtype)
