"""Dynamics do not depend on where a free base is: far from the origin, single precision is as good as at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import Reference, dynamics, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, MIXED, Robot

FAR = np.array([1e4, -1e4, 10.0])


@pytest.mark.parametrize("name", dynamics())
@pytest.mark.parametrize("robot", [GOLDEN["go2"], MIXED["mixed floating"]], ids=["go2", "mixed floating"])
def test_single_precision_far_from_the_origin(robot: Robot, name: str, compiled: Callable[..., Any]) -> None:
    model = robot.model()
    handle = compiled(robot.urdf, floating_base=True, dtype="float32")
    inputs = random_inputs(model, 2, 100)
    inputs["q"][:, :3] = 0.0
    inputs = inputs_of(name, {key: np.float32(value).astype(float) for key, value in inputs.items()})
    exact = Reference(model)(name, **inputs)
    at_origin = getattr(handle, name)(**inputs)
    inputs["q"][:, :3] = FAR
    far_away = getattr(handle, name)(**inputs)

    error = relative_error(at_origin, exact)
    assert relative_error(far_away, exact) <= 1.5 * error + 1e-7
    assert relative_error(Reference(model)(name, **inputs), exact) < 1e-13
