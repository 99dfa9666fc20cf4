"""Named robots against Pinocchio: every joint class on the interpreter, the main robots compiled in both precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_core.model import Model
from tests.oracle.configurations import special_configurations
from tests.oracle.evaluation import Inputs, Reference, dynamics, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES, Robot

pytest.importorskip("pinocchio")
from tests.oracle.pinocchio import PinocchioOracle

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}
FLOOR = {"float64": 1e-3, "float32": 1e-1}
"""Results that vanish up to rounding (a Coriolis matrix at rest) are compared with these instead of with themselves."""

EVERY_DAY = ("inverse_dynamics", "crba", "aba")
"""What is compiled of a humanoid unless slow tests are asked for."""

ABSENT = ((), ("f_ext",), ("gravity",), ("qdd", "f_ext", "gravity"))

COMPILED = [
    pytest.param(robot, name, id=f"{label}-{name}")
    for label, robot in {**GOLDEN, **MIXED}.items()
    for name in dynamics()
] + [
    pytest.param(robot, name, id=f"{label}-{name}", marks=[] if everyday else [pytest.mark.slow])
    for label, robot in HUMANOIDS.items()
    for name in dynamics()
    for everyday in [label == "humanoid29" and name in EVERY_DAY]
]


def states(model: Model) -> Inputs:
    """Return random states, the special configurations in motion, and all of them at rest."""
    generator = np.random.default_rng(5)
    q = special_configurations(model, generator)
    n = len(q)
    inputs = random_inputs(model, 3, 3 * n)
    inputs["q"][n : 2 * n] = inputs["q"][2 * n :] = q
    inputs["qd"][2 * n :] = 0.0
    return inputs


def check(call: Callable[..., Any], robot: Robot, name: str, dtype: str) -> None:
    model = robot.model()
    oracle, inputs = PinocchioOracle(model), states(model)
    if dtype == "float32":
        inputs = {key: value.astype(np.float32).astype(np.float64) for key, value in inputs.items()}
    for without in ABSENT:
        arguments = inputs_of(name, inputs, without=without)
        error = relative_error(call(name, **arguments), oracle(name, **arguments), FLOOR[dtype])
        assert error < TOLERANCE[dtype], f"without {without}"


@pytest.mark.parametrize(
    "robot", [*GOLDEN.values(), *TREES.values(), *HUMANOIDS.values()], ids=[*GOLDEN, *TREES, *HUMANOIDS]
)
def test_interpreted(robot: Robot) -> None:
    reference = Reference(robot.model())
    for name in dynamics():
        check(reference, robot, name, "float64")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("robot", "name"), COMPILED)
def test_compiled(robot: Robot, name: str, dtype: str, compiled: Callable[..., Any]) -> None:
    robot.model()  # skips if the robot is not installed
    handle = compiled(robot.urdf, floating_base=robot.floating_base, dtype=dtype)
    check(lambda name, **inputs: getattr(handle, name)(**inputs), robot, name, dtype)


@pytest.mark.parametrize("label", ["double_pendulum_continuous", "iiwa14", "go2", "humanoid29", "g1"])
def test_recursive_inverse_and_derivatives(label: str) -> None:
    """Pinocchio has a second way to these, which shares no code with its mass matrix."""
    model = (GOLDEN | HUMANOIDS)[label].model()
    oracle, reference, inputs = PinocchioOracle(model), Reference(model), states(model)
    for name in ("minv", "forward_dynamics_gradient"):
        arguments = inputs_of(name, inputs)
        assert relative_error(reference(name, **arguments), oracle(f"direct_{name}", **arguments)) < 1e-10
