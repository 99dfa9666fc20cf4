"""The factors of the mass matrix from articulated bodies: those of the matrix, and the digits that they keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.builder import KernelBuilder
from grid_core.model import Model
from grid_plugins.dynamics.factor import Factor, factor
from grid_plugins.dynamics.mass_factor import LARGE, articulated_factor
from tests.oracle.evaluation import Array, algorithms, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES, Robot
from tests.oracle.trees import chain, describe

ROBOTS = {**GOLDEN, **TREES, **MIXED}
INDEPENDENT = [label for label, robot in ROBOTS.items() if not any(joint.mimic for joint in robot.model().joints)]
SNAKE = Robot(describe(chain(*["revolute"] * 24, aligned=True), 3))
BOUNDS = {"minv": 5e-6, "forward_dynamics": 5e-6, "forward_dynamics_gradient": 5e-5}


def stacked(f: Factor) -> list[list[object]]:
    """Return ``L`` with ``1 / D`` in place of its unit diagonal."""
    return [[*row[:i], f.inverse_d[i], *row[i + 1 :]] for i, row in enumerate(f.lower)]


def by_matrix(k: KernelBuilder) -> None:
    k.output("minv", stacked(factor(k.call("crba", q=k.input("q")))))


def by_articulated_bodies(k: KernelBuilder) -> None:
    k.output("minv", stacked(articulated_factor(k, k.input("q"))))


@pytest.mark.parametrize("label", INDEPENDENT)
def test_both_ways_agree(label: str) -> None:
    model = ROBOTS[label].model()
    q = model.random(1, 10)
    one, other = (
        evaluate(trace_algorithm(replace(algorithms()["minv"], emit=emit), model, algorithms()), {"q": q})["minv"]
        for emit in (by_matrix, by_articulated_bodies)
    )
    assert relative_error(other, one) < 1e-11


def at_right_angles(model: Model) -> Array:
    """Return the configurations with every joint turned by a quarter, to either side."""
    turns = np.array([joint.kind != "floating" for joint in model.joints for _ in range(joint.nv)], float)
    return np.array([model.integrate(model.neutral(), angle * turns) for angle in (0.5 * np.pi, -0.5 * np.pi)])


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("robot", [*HUMANOIDS.values(), SNAKE], ids=[*HUMANOIDS, "snake"])
def test_single_precision_next_to_a_singularity(robot: Robot, name: str) -> None:
    """The interpreter computes in the precision of its inputs: what rounding does, without a compiler."""
    model = robot.model()
    assert model.nv > LARGE
    inputs = random_inputs(model, 3, 10)
    inputs["q"][:2] = at_right_angles(model)
    single = {key: value.astype(np.float32) for key, value in inputs_of(name, inputs).items()}
    kernel = trace_algorithm(algorithms()[name], model, algorithms())
    ours, exact = (
        evaluate(kernel, {key: value.astype(dtype) for key, value in single.items()})[kernel.outputs[0].name]
        for dtype in (np.float32, np.float64)
    )
    assert not np.array_equal(ours, exact)
    assert np.array_equal(ours, ours.astype(np.float32)), "something was computed in double precision"
    assert relative_error(ours, exact, floor=0.1) < BOUNDS[name]
