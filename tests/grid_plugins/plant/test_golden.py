"""The golden cases of an independent reference implementation: costs and barriers."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.frames import frame_numbers
from grid_plugins.plant.activations import KINDS
from tests.oracle.evaluation import Array, Reference, algorithms
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
def with_features(robot: str) -> Reference:
    return Reference(GOLDEN[robot].model(), TraceSettings(cost_features=(3, 3)))


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
        close(robot, f"{name}__{output.name}", found[output.name])


def close(robot: str, key: str, found: Array) -> None:
    """Compare with the samples that there is a case for."""
    expected = golden(robot)[key]
    tolerance = INDEX["robots"][robot]["files"][f"{robot}_plant.npz"][key]["tol"]
    ours = found[: len(expected)]
    assert ours.shape == expected.shape
    scale = np.maximum(1.0, np.abs(expected).reshape(len(expected), -1).max(axis=1))
    assert (np.abs(ours - expected).reshape(len(expected), -1).max(axis=1) <= tolerance * scale).all()


ACTIVATED = {
    "state_cost": ({"x": "x", "x_des": "x_des", "Q": "Q"}, "state"),
    "state_cost_tangent": ({"x": "x", "x_des": "x_des", "Q": "Q_tangent"}, "state_tangent"),
    "input_cost": ({"u": "u", "u_des": "u_des", "R": "R"}, "input"),
    "linear_feature_cost_x": ({"x": "x"}, "linear_x"),
    "linear_feature_cost_u": ({"u": "u"}, "linear_u"),
    "frame_position_cost": ({"q": "q", "p_des": "menu__frame_position__target", "W": "W3"}, "frame_position"),
    "frame_orientation_cost": ({"q": "q", "R_des": "menu__frame_orientation__target", "W": "W3"}, ""),
    "frame_velocity_cost": (
        {"q": "q", "qd": "qd", "v_des": "menu__frame_velocity__target", "W": "W6"},
        "frame_velocity",
    ),
}
"""Algorithm -> its inputs, and the name under which its bounds are kept."""


def activated(robot: str, name: str) -> dict[str, Any]:
    """Return the arguments of a cost but for its activation."""
    data, (inputs, bounds) = golden(robot), ACTIVATED[name]
    found = {argument: data[key] for argument, key in inputs.items()}
    if bounds:
        found |= {side: data[f"menu__{bounds}__{side}"] for side in ("lower", "upper")}
    if name.startswith("linear"):
        found |= {key: np.stack([data[f"menu__{bounds}__{key}"]] * 4) for key in ("A", "b", "target", "W")}
    if name.startswith("frame"):
        frame = frame_numbers(GOLDEN[robot].model().frame(str(data["menu__frame"])))
        found["frame"] = np.tile(frame, (4, 1))
    return found


CASES = [
    (robot, name, kind)
    for robot in GOLDEN
    for name in ACTIVATED
    for kind in KINDS
    if f"{name}__{kind}__value" in INDEX["robots"][robot]["files"][f"{robot}_plant.npz"]
]


@pytest.mark.parametrize(("robot", "name", "kind"), CASES)
def test_activated_costs_agree(robot: str, name: str, kind: str) -> None:
    data, stem = golden(robot), f"{name}__{kind}"
    chosen = {"activation": np.full(4, KINDS.index(kind)), "eps": np.full(4, data["menu__eps"])}
    found = with_features(robot)(name, **activated(robot, name), **chosen)
    for output in ("value", "grad", "hess"):
        close(robot, f"{stem}__{output}", found[output])


@pytest.mark.parametrize("robot", GOLDEN)
def test_the_whole_hessian_agrees(robot: str) -> None:
    name = "quadratic_state_cost_tangent"
    found = reference(robot)(name, **given(robot, name), full_newton=np.ones(4))
    for output in ("value", "grad", "hess"):
        close(robot, f"{name}__full_newton__{output}", found[output])


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
