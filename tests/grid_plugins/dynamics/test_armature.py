"""Rotor inertia, a row of the run-time table of joint dynamics, adds to the diagonal of the mass matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_core.kernel.settings import TraceSettings
from grid_core.kernel.tables import TABLES, described_values
from tests.oracle.evaluation import Reference, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED

SETTINGS = TraceSettings(runtime=frozenset({"joint_dynamics"}))
ROBOTS = {**GOLDEN, **MIXED, "humanoid29": HUMANOIDS["humanoid29"]}


class Case:
    """A robot with and without rotors, at the same random states."""

    def __init__(self, model: Any) -> None:
        self.nv = model.nv
        self.plain, self.geared = Reference(model), Reference(model, SETTINGS)
        self.inputs = random_inputs(model, 3, 4)
        self.armature = np.random.default_rng(0).uniform(0.05, 2.0, self.nv)
        table = described_values([TABLES["joint_dynamics"]], model, SETTINGS)["joint_dynamics_params"]
        table[3] = self.armature
        self.table = {"joint_dynamics_params": np.tile(table.ravel(), (4, 1))}

    def __call__(self, name: str, **more: Any) -> Any:
        return self.geared(name, **{**inputs_of(name, self.inputs), **self.table, **more})

    def without(self, name: str, **more: Any) -> Any:
        return self.plain(name, **{**inputs_of(name, self.inputs), **more})


@pytest.fixture(scope="module", params=ROBOTS, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(ROBOTS[request.param].model())


def test_torque_and_mass_matrix(case: Case) -> None:
    rotors = case.armature * case.inputs["qdd"]
    assert relative_error(case("inverse_dynamics"), case.without("inverse_dynamics") + rotors) < 1e-13
    assert relative_error(case("crba"), case.without("crba") + np.diag(case.armature)) < 1e-13


def test_accelerations(case: Case) -> None:
    mass = case.without("crba") + np.diag(case.armature)
    assert relative_error(case("minv"), np.linalg.inv(mass)) < 1e-10
    for name in ("forward_dynamics", "aba"):
        acceleration = case(name)
        assert relative_error(case("inverse_dynamics", qdd=acceleration), case.inputs["u"]) < 1e-9


def test_gradient_of_accelerations(case: Case) -> None:
    at = {"qdd": case("forward_dynamics")}
    expected = -case("minv") @ case.without("inverse_dynamics_gradient", **at)
    assert relative_error(case("forward_dynamics_gradient"), expected) < 1e-9
