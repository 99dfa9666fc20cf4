"""The golden cases of an independent reference implementation: costs and barriers."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import Reference, algorithms
from tests.oracle.robots import GOLDEN, TESTS

INDEX = json.loads((TESTS / "golden" / "index.json").read_text("utf-8"))
INPUTS = {
    "quadratic_state_cost": {"x": "x", "x_des": "x_des", "Q": "Q"},
    "quadratic_state_cost_tangent": {"x": "x", "x_des": "x_des", "Q": "Q_tangent"},
    "quadratic_input_cost": {"u": "u", "u_des": "u_des", "R": "R"},
    "ee_pos_cost": {"q": "q", "p_des": "p_des", "W": "W3"},
    "com_cost": {"q": "q", "p_des": "p_des", "W": "W3"},
    "momentum_cost": {"q": "q", "qd": "qd", "h_des": "h_des", "W": "W6"},
}
BARRIERS = {"joint_position_barrier": "q", "joint_velocity_barrier": "qd", "joint_torque_barrier": "u"}
"""Algorithm -> its inputs, each with the key that holds it."""


@cache
def reference(robot: str) -> Reference:
    return Reference(GOLDEN[robot].model())


@cache
def golden(robot: str) -> dict[str, Any]:
    found = dict(np.load(TESTS / "golden" / f"{robot}_plant.npz"))
    return found | {"x": np.concatenate([found["q"], found["qd"]], axis=1)}


def given(robot: str, name: str) -> dict[str, Any]:
    data = golden(robot)
    if name in INPUTS:
        return {argument: data[key] for argument, key in INPUTS[name].items()}
    bounds = {side: data[f"{name}__{side}"] for side in ("lower", "upper")}
    return {"var": data[BARRIERS[name]], **bounds, "mu": np.full(4, data["barrier_mu"])}


@pytest.mark.parametrize("name", [*INPUTS, *BARRIERS])
@pytest.mark.parametrize("robot", GOLDEN)
def test_agrees(robot: str, name: str) -> None:
    found = reference(robot)(name, **given(robot, name))
    for output in algorithms()[name].outputs:
        expected = golden(robot)[f"{name}__{output.name}"]
        tolerance = INDEX["robots"][robot]["files"][f"{robot}_plant.npz"][f"{name}__{output.name}"]["tol"]
        ours = found[output.name][: len(expected)]
        assert ours.shape == expected.shape
        scale = np.maximum(1.0, np.abs(expected).reshape(len(expected), -1).max(axis=1))
        assert (np.abs(ours - expected).reshape(len(expected), -1).max(axis=1) <= tolerance * scale).all()


def test_barriers_at_and_beyond_their_bounds() -> None:
    cases = np.load(TESTS / "golden" / "primitives.npz")
    n = len(cases["barrier__x"])
    robot = Reference(GOLDEN["iiwa14"].model())
    x = cases["barrier__x"]
    wide = {"lower": np.full((n, 7), -np.inf), "upper": np.full((n, 7), np.inf)}
    wide["lower"][:, 2], wide["upper"][:, 2] = cases["barrier__lo"], cases["barrier__hi"]
    var = np.zeros((n, 7))
    var[:, 2] = x
    found = robot("joint_velocity_barrier", var=var, **wide, mu=np.full(n, cases["barrier__mu"]))
    np.testing.assert_allclose(found["value"], cases["barrier__value"], rtol=1e-14)
    np.testing.assert_allclose(found["grad"][:, 2], cases["barrier__grad"], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found["hess_diag"][:, 2], cases["barrier__hess"], rtol=1e-9)
    others = [0, 1, 3, 4, 5, 6]
    assert not found["grad"][:, others].any()
    assert not found["hess_diag"][:, others].any()
