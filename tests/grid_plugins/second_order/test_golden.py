"""The golden cases of an independent reference implementation, on compiled units and on the reference device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.robots import GOLDEN, TESTS

DEVICES = {
    "float64": ({"dtype": "float64"}, 1e-9),
    "float32": ({"dtype": "float32"}, 5e-4),
    "reference": ({"dtype": "float64", "device": "reference"}, 1e-9),
}
NAMES = ("d2tau_dq", "d2tau_dqd", "d2tau_cross", "dM_dq")


QUICK = {("iiwa14", "float64"), ("iiwa14", "float32"), ("go2", "float64")}
"""What is compiled every day."""

CASES = [
    pytest.param(robot, device, marks=[] if device == "reference" or (robot, device) in QUICK else [pytest.mark.slow])
    for robot in GOLDEN
    for device in DEVICES
]


@pytest.mark.parametrize(("robot", "device"), CASES)
def test_inverse_dynamics(robot: str, device: str, compiled: Callable[..., Any]) -> None:
    options, tolerance = DEVICES[device]
    handle = compiled(GOLDEN[robot].urdf, floating_base=GOLDEN[robot].floating_base, **options)
    inputs, golden = (np.load(TESTS / "golden" / f"{robot}{kind}.npz") for kind in ("", "_second"))
    samples = len(golden["idsva_so__dM_dq"])
    result = handle.idsva_so(*(inputs[name][:samples].astype(options["dtype"]) for name in ("q", "qd", "qdd")))
    assert type(result).__name__ == "SecondOrderID"
    for name in NAMES:
        expected = golden[f"idsva_so__{name}"]
        assert np.abs(getattr(result, name) - expected).max() <= tolerance * max(1.0, np.abs(expected).max()), name
