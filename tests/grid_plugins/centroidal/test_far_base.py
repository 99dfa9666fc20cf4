"""What does not contain the position of a free base is as good in single precision far from the origin as at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.grid_plugins.centroidal.outputs import OUTPUTS, evaluated
from tests.oracle.evaluation import Inputs, Reference, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, MIXED, Robot

FAR = np.array([1e4, -1e4, 10.0])
PLACED = {"com.position", "energy.energy", "potential_energy_regressor.regressor"}
"""Outputs that contain the position."""

COMPILED = [
    pytest.param(
        robot,
        output,
        id=f"{label}-{output}",
        marks=[pytest.mark.slow] if label != "go2" else [],
    )
    for label, robot in (("go2", GOLDEN["go2"]), ("mixed floating", MIXED["mixed floating"]))
    for output in OUTPUTS
    if output not in PLACED
]


def states(robot: Robot) -> Inputs:
    inputs = random_inputs(robot.model(), 2, 50)
    inputs["q"][:, :3] = 0.0
    return {key: np.float32(value).astype(float) for key, value in inputs.items()}


@pytest.mark.parametrize(("robot", "output"), COMPILED)
def test_single_precision(robot: Robot, output: str, compiled: Callable[..., Any]) -> None:
    handle = compiled(robot.urdf, floating_base=True, dtype="float32")

    def call(name: str, **inputs: Any) -> Any:
        return getattr(handle, name)(**inputs)

    inputs = states(robot)
    exact = evaluated(Reference(robot.model()), output, inputs)
    error = relative_error(evaluated(call, output, inputs), exact)
    inputs["q"][:, :3] = FAR
    assert relative_error(evaluated(call, output, inputs), exact) <= 1.5 * error + 1e-7


@pytest.mark.parametrize("robot", [GOLDEN["go2"], MIXED["mixed floating"]], ids=["go2", "mixed floating"])
def test_only_positions_and_potentials_move(robot: Robot) -> None:
    reference, inputs = Reference(robot.model()), states(robot)
    near = {output: evaluated(reference, output, inputs) for output in OUTPUTS}
    inputs["q"][:, :3] = FAR
    far = {output: evaluated(reference, output, inputs) for output in OUTPUTS}
    for output in OUTPUTS:
        if output not in PLACED:
            assert relative_error(far[output], near[output]) < 1e-13, output
    np.testing.assert_allclose(far["com.position"] - near["com.position"], np.tile(FAR, (50, 1)), rtol=1e-11)
