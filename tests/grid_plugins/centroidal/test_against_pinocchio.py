"""Named robots against Pinocchio: every joint class on the interpreter, the main robots compiled in both precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.grid_plugins.centroidal.outputs import INVERTING, OUTPUTS, algorithm_of, evaluated
from tests.oracle.configurations import special_configurations
from tests.oracle.evaluation import Inputs, Reference, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES, Robot

pytest.importorskip("pinocchio")
from tests.oracle.centroidal import CentroidalOracle

TOLERANCE = {"float64": 1e-9, "float32": 5e-4}
FLOOR = {"float64": 1e-3, "float32": 1e-1}
"""Results that vanish up to rounding are compared with these instead of with themselves."""

HAVE = [output for output in OUTPUTS if algorithm_of(output) != "inverse_dynamics_regressor_gradient"]
"""What Pinocchio can be asked for."""

EVERY_DAY = {"humanoid29": ("ccrba", "cmm_time_variation")}
COMPILED = [
    pytest.param(robot, output, id=f"{label}-{output}", marks=[] if everyday else [pytest.mark.slow])
    for label, robot in {**GOLDEN, **MIXED, **HUMANOIDS}.items()
    for output in HAVE
    for everyday in [label in ("iiwa14", "go2") or algorithm_of(output) in EVERY_DAY.get(label, ())]
]


def states(robot: Robot) -> Inputs:
    """Return random states, and special configurations in motion."""
    model = robot.model()
    q = special_configurations(model, np.random.default_rng(5))
    inputs = random_inputs(model, 3, 2 * len(q))
    inputs["q"][len(q) :] = q
    return inputs


def check(call: Callable[..., Any], robot: Robot, output: str, dtype: str) -> None:
    oracle, inputs = CentroidalOracle(robot.model()), states(robot)
    tolerance = TOLERANCE[dtype]
    if dtype == "float32":
        inputs = {key: value.astype(np.float32).astype(np.float64) for key, value in inputs.items()}
        if algorithm_of(output) in INVERTING:
            tolerance = max(tolerance, 1e-8 * oracle.condition(inputs["q"]))
    for without in ((), ("f_ext", "gravity"), ("qdd",)):
        ours, theirs = (
            evaluated(call, output, inputs, without=without),
            evaluated(lambda _, **given: oracle(output, **given), output, inputs, without=without),
        )
        assert relative_error(ours, theirs, FLOOR[dtype]) < tolerance, f"without {without}"


@pytest.mark.parametrize(
    "robot",
    [
        pytest.param(robot, id=label, marks=[pytest.mark.slow] if label == "g1" else [])
        for label, robot in {**GOLDEN, **TREES, **HUMANOIDS}.items()
    ],
)
def test_interpreted(robot: Robot) -> None:
    reference = Reference(robot.model())
    for output in HAVE:
        check(reference, robot, output, "float64")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("robot", "output"), COMPILED)
def test_compiled(robot: Robot, output: str, dtype: str, compiled: Callable[..., Any]) -> None:
    robot.model()  # skips if the robot is not installed
    handle = compiled(robot.urdf, floating_base=robot.floating_base, dtype=dtype)
    check(lambda name, **inputs: getattr(handle, name)(**inputs), robot, output, dtype)
