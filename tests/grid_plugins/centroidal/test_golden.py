"""The golden cases of an independent reference implementation, on compiled units and on the reference device."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.grid_plugins.centroidal.outputs import algorithm_of, evaluated
from tests.oracle.robots import GOLDEN, TESTS

INDEX = json.loads((TESTS / "golden" / "index.json").read_text("utf-8"))
KEYS = {
    "com__position": "com.position",
    "com__jacobian": "com.jacobian",
    "ccrba__A": "ccrba.matrix",
    "ccrba__h": "ccrba.momentum",
    "dccrba": "dccrba.gradient",
    "cmm_time_variation": "cmm_time_variation.rate",
    "energy": "energy.energy",
    "energy__gravity_alt": "energy.energy",
    "kinetic_energy_regressor": "kinetic_energy_regressor.regressor",
    "potential_energy_regressor": "potential_energy_regressor.regressor",
    "inverse_dynamics_regressor": "inverse_dynamics_regressor.regressor",
    "forward_dynamics_parameter_gradient": "forward_dynamics_parameter_gradient.gradient",
    "f_ext_gradient__dtau": "f_ext_gradient.dtau",
    "f_ext_gradient__dqdd": "f_ext_gradient.dqdd",
}
SECOND = {
    "f_ext_gradient__dtau_dq": "f_ext_gradient_dq.gradient",
    "inverse_dynamics_regressor_gradient__dq": "inverse_dynamics_regressor_gradient.dq",
    "inverse_dynamics_regressor_gradient__dqd": "inverse_dynamics_regressor_gradient.dqd",
}
"""Keys -> our outputs, in the files of values and of second derivatives."""

DEVICES = {
    "float64": {"dtype": "float64"},
    "float32": {"dtype": "float32"},
    "reference": {"dtype": "float64", "device": "reference"},
}
EVERY_DAY = ("iiwa14", "go2")
"""What is compiled in single precision unless slow tests are asked for."""

CASES = [
    pytest.param(
        robot,
        key,
        device,
        id=f"{robot}-{key}-{device}",
        marks=[pytest.mark.slow] if device == "float32" and robot not in EVERY_DAY else [],
    )
    for device in DEVICES
    for robot in GOLDEN
    for key in KEYS | SECOND
]


@pytest.mark.parametrize(("robot", "key", "device"), CASES)
def test_agrees(robot: str, key: str, device: str, compiled: Callable[..., Any]) -> None:
    file = f"{robot}_second.npz" if key in SECOND else f"{robot}.npz"
    golden, expected = np.load(TESTS / "golden" / f"{robot}.npz"), np.load(TESTS / "golden" / file)[key]
    handle = compiled(GOLDEN[robot].urdf, floating_base=GOLDEN[robot].floating_base, **DEVICES[device])
    inputs = {name: golden[name][: len(expected)] for name in ("q", "qd", "qdd", "u")}
    if key.endswith("gravity_alt"):
        inputs["gravity"] = golden["gravity_alt"]
    if device == "float32":
        inputs = {name: np.float32(value) for name, value in inputs.items()}
    output = (KEYS | SECOND)[key]
    result = evaluated(lambda name, **given: getattr(handle, name)(**given), output, inputs)

    assert result.dtype == DEVICES[device]["dtype"]
    assert result.shape == expected.shape, algorithm_of(output)
    tolerance = 5e-4 if device == "float32" else INDEX["robots"][robot]["files"][file][key]["tol"]
    for ours, theirs in zip(result, expected, strict=True):
        assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())
