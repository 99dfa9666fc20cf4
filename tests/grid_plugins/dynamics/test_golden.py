"""The golden cases of an independent reference implementation, on compiled units and on the reference device."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import dynamics, inputs_of
from tests.oracle.robots import GOLDEN, TESTS

INDEX = json.loads((TESTS / "golden" / "index.json").read_text("utf-8"))
ALIASES = {"gravity_torque": "generalized_gravity"}
ABSENT: dict[str, tuple[str, ...]] = {
    "": ("f_ext", "gravity"),
    "noqdd": ("qdd", "f_ext", "gravity"),
    "fext": ("gravity",),
    "noqdd_fext": ("qdd", "gravity"),
    "gravity_alt": ("f_ext",),
    "joint_dynamics_sign": ("f_ext", "gravity"),
    "joint_dynamics_tanh": ("f_ext", "gravity"),
}
"""Variant of a key -> inputs of the algorithm that the call leaves out."""
ELSEWHERE = {"body_velocity", "body_acceleration", "body_force"}
"""Intermediate quantities, which are no results of this family."""


def golden_keys(robot: str) -> list[str]:
    names = {*dynamics(), *ALIASES}
    keys = INDEX["robots"][robot]["files"][f"{robot}.npz"]
    return [key for key in keys if key.partition("__")[0] in names and key.partition("__")[2] not in ELSEWHERE]


KEYS = [(robot, key) for robot in GOLDEN for key in golden_keys(robot)]
DEVICES = {
    "float64": {"dtype": "float64"},
    "float32": {"dtype": "float32"},
    "reference": {"dtype": "float64", "device": "reference"},
}


CASES = [
    pytest.param(
        robot,
        key,
        device,
        id=f"{robot}-{key}-{device}",
        marks=[pytest.mark.slow] if device == "float32" and "joint_dynamics" in key and robot != "iiwa14" else [],
    )
    for device in DEVICES
    for robot, key in KEYS
]
"""In single precision, joint dynamics of one robot are enough for every day."""


def joint_dynamics(variant: str, golden: Any) -> dict[str, Any]:
    if not variant.startswith("joint_dynamics"):
        return {}
    options = {"use_joint_dynamics": True, "friction_model": variant.rpartition("_")[2]}
    if options["friction_model"] == "tanh":
        options["friction_width"] = tuple(golden["friction_width"].tolist())
    return options


@pytest.mark.parametrize(("robot", "key", "device"), CASES)
def test_agrees(robot: str, key: str, device: str, compiled: Callable[..., Any]) -> None:
    golden = np.load(TESTS / "golden" / f"{robot}.npz")
    algorithm, _, variant = key.partition("__")
    options = DEVICES[device] | joint_dynamics(variant, golden)
    handle = compiled(GOLDEN[robot].urdf, floating_base=GOLDEN[robot].floating_base, **options)

    expected = golden[key]
    samples = len(expected)
    inputs = {name: golden[name][:samples] for name in ("q", "qd", "qdd", "u")}
    inputs |= {"f_ext": golden["f_ext"][:samples].reshape(samples, -1), "gravity": golden["gravity_alt"]}
    if device == "float32":
        inputs = {name: np.float32(value) for name, value in inputs.items()}
    algorithm = ALIASES.get(algorithm, algorithm)
    result = getattr(handle, algorithm)(**inputs_of(algorithm, inputs, without=ABSENT[variant]))

    assert result.dtype == options["dtype"]
    tolerance = INDEX["robots"][robot]["files"][f"{robot}.npz"][key]["tol"]
    for ours, theirs in zip(result, expected, strict=True):
        scale = max(1.0, np.abs(theirs).max())
        assert np.abs(ours - theirs).max() <= (2e-4 if device == "float32" else tolerance) * scale


def test_no_case_is_missing() -> None:
    assert len(KEYS) == 126
