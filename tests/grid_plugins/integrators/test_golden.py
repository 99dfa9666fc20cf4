"""The golden cases of an independent reference implementation: steps, gradients and maps of configurations."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.oracle.evaluation import Array, Reference
from tests.oracle.robots import GOLDEN, TESTS

INDEX = json.loads((TESTS / "golden" / "index.json").read_text("utf-8"))
ALGORITHMS = ("integrator", "integrator_gradient")


def tolerances(robot: str) -> dict[str, float]:
    keys = INDEX["robots"][robot]["files"][f"{robot}_plant.npz"]
    return {key: entry["tol"] for key, entry in keys.items() if "tol" in entry}


def keys(robot: str, prefix: str = "") -> list[str]:
    heads = [f"{prefix}{name}" for name in ALGORITHMS]
    return [key for key in tolerances(robot) if any(key.startswith(f"{head}__") for head in heads)]


CASES = [(robot, key) for robot in GOLDEN for prefix in ("", "edge__") for key in keys(robot, prefix)]


@pytest.fixture(scope="module")
def references() -> dict[str, Reference]:
    return {label: Reference(robot.model()) for label, robot in GOLDEN.items()}


@pytest.mark.parametrize(("robot", "key"), CASES)
def test_steps_agree(robot: str, key: str, references: dict[str, Reference]) -> None:
    golden = np.load(TESTS / "golden" / f"{robot}_plant.npz")
    edge = "edge__" if key.startswith("edge__") else ""
    algorithm, scheme, *variant = key.removeprefix("edge__").split("__")
    expected = golden[key]
    inputs = {name: golden[edge + name][: len(expected)] for name in ("q", "qd", "u")}
    inputs["dt"] = np.broadcast_to(golden[edge + "dt"], (4,))[: len(expected)]
    if variant == ["fext"]:
        inputs["f_ext"] = golden["f_ext"][: len(expected)]
    result = references[robot](f"{algorithm}_{scheme}", **inputs)
    assert_close(result, expected, tolerances(robot)[key])


def assert_close(result: Array, expected: Array, tolerance: float) -> None:
    assert result.shape == expected.shape
    for ours, theirs in zip(result, expected, strict=True):
        assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())


def test_no_case_is_missing() -> None:
    assert len(CASES) == 4 * 6 * 5
    assert all(f"integrator_gradient__{scheme}" in tolerances("go2") for scheme in ("rk4", "midpoint", "trapezoidal"))
