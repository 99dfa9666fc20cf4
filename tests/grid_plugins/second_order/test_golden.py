"""The golden cases of an independent reference implementation, on compiled units and on the reference device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import grid_rbd
from tests.oracle.robots import GOLDEN, TESTS

DEVICES: dict[str, dict[str, str]] = {
    "float64": {"dtype": "float64"},
    "float32": {"dtype": "float32"},
    "reference": {"dtype": "float64", "device": "reference"},
}
INVERSE = ("d2tau_dq", "d2tau_dqd", "d2tau_cross", "dM_dq")
FORWARD = {"d2qdd_dq": "0_dq_dq", "d2qdd_cross": "1_dqd_dq", "d2qdd_dqd": "2_dqd_dqd", "d2qdd_du": "3_du_dq"}
"""Fields in the order of the tuple -> golden keys, which say the position and what is differentiated."""

CASES = [
    pytest.param(robot, device, marks=[] if device == "reference" or robot == "iiwa14" else [pytest.mark.slow])
    for robot in GOLDEN
    for device in DEVICES
]
"""What is compiled every day is the smallest one that is not a toy."""


def call(
    name: str, robot: str, device: str, inputs: tuple[str, ...], samples: int, compiled: Callable[..., Any]
) -> Any:
    options = DEVICES[device]
    handle = compiled(GOLDEN[robot].urdf, floating_base=GOLDEN[robot].floating_base, **options)
    golden = np.load(TESTS / "golden" / f"{robot}.npz")
    return getattr(handle, name)(*(golden[key][:samples].astype(options["dtype"]) for key in inputs))


def check(found: Any, expected: Any, tolerance: float) -> None:
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize(("robot", "device"), CASES)
def test_inverse_dynamics(robot: str, device: str, compiled: Callable[..., Any]) -> None:
    golden = np.load(TESTS / "golden" / f"{robot}_second.npz")
    result = call("idsva_so", robot, device, ("q", "qd", "qdd"), len(golden["idsva_so__dM_dq"]), compiled)
    assert isinstance(result, grid_rbd.SecondOrderID)
    assert result._fields == INVERSE
    for name in INVERSE:
        check(getattr(result, name), golden[f"idsva_so__{name}"], 5e-4 if device == "float32" else 1e-9)


@pytest.mark.parametrize(("robot", "device"), CASES)
def test_forward_dynamics(robot: str, device: str, compiled: Callable[..., Any]) -> None:
    golden = np.load(TESTS / "golden" / f"{robot}_second.npz")
    result = call("fdsva_so", robot, device, ("q", "qd", "u"), len(golden["fdsva_so__3_du_dq"]), compiled)
    assert isinstance(result, grid_rbd.SecondOrderFD)
    assert result._fields == tuple(FORWARD)
    for (name, key), value in zip(FORWARD.items(), result, strict=True):
        assert value is getattr(result, name)
        check(value, golden[f"fdsva_so__{key}"], 5e-4 if device == "float32" else 1e-9)
