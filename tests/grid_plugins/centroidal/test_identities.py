"""What holds between the algorithms: momentum, work and energy, and linearity in the inertial parameters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.grid_plugins.centroidal.outputs import NAMES, evaluated
from tests.oracle.derivatives import slope
from tests.oracle.evaluation import Array, Inputs, Reference, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES

ROBOTS = {
    **GOLDEN,
    **MIXED,
    **{name: TREES[name] for name in ("skew axes", "spherical joints", "two trees in the world")},
}
BATCH = 3


@pytest.fixture(params=[*ROBOTS, "humanoid29"])
def model(request: pytest.FixtureRequest) -> Model:
    return (ROBOTS | HUMANOIDS)[request.param].model()


def times(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("b...j,bj->b...", matrix, vector))


def flow(model: Model, inputs: Inputs, t: float) -> Inputs:
    """Return the state a time later, moving with constant ``qdd``."""
    step = t * inputs["qd"] + 0.5 * t * t * inputs["qdd"]
    return inputs | {"q": model.integrate(inputs["q"], step), "qd": inputs["qd"] + t * inputs["qdd"]}


def test_momentum(model: Model) -> None:
    reference, inputs = Reference(model), random_inputs(model, 1, BATCH)
    matrix = evaluated(reference, "ccrba.matrix", inputs)
    momentum = evaluated(reference, "ccrba.momentum", inputs)
    rate = evaluated(reference, "cmm_time_variation.rate", inputs)
    assert relative_error(momentum, times(matrix, inputs["qd"])) < 1e-13
    assert relative_error(times(evaluated(reference, "dccrba.gradient", inputs), inputs["qd"]), rate) < 1e-11
    mass = matrix[:, :3] / np.where(jacobian := evaluated(reference, "com.jacobian", inputs), jacobian, np.nan)
    assert np.nanmax(mass) == pytest.approx(np.nanmin(mass), rel=1e-7), "linear rows are mass times the Jacobian"

    def later(t: float) -> Array:
        return evaluated(reference, "ccrba.momentum", flow(model, inputs, t))

    changing = times(matrix, inputs["qdd"]) + times(rate, inputs["qd"])
    assert relative_error(changing, slope(later, 1e-3)) < 1e-8


def test_energy(model: Model) -> None:
    reference, inputs = Reference(model), random_inputs(model, 2, BATCH)
    kinetic, potential, total = evaluated(reference, "energy.energy", inputs).T
    twice = np.einsum("bi,bij,bj->b", inputs["qd"], reference("crba", q=inputs["q"]), inputs["qd"])
    np.testing.assert_allclose(kinetic, 0.5 * twice, rtol=1e-11)
    np.testing.assert_allclose(total, kinetic + potential, rtol=1e-13)

    def later(t: float) -> Array:
        return evaluated(reference, "energy.energy", flow(model, inputs, t))[:, 2:]

    inputs.pop("f_ext")
    power = np.sum(inputs["qd"] * reference("inverse_dynamics", **inputs_of("inverse_dynamics", inputs)), axis=1)
    assert relative_error(power[:, None], slope(later, 1e-3)) < 1e-8, "the work of the joints becomes energy"


def test_regressors_give_what_they_are_linear_in(model: Model) -> None:
    reference, inputs = Reference(model), random_inputs(model, 3, BATCH)
    parameters = np.tile(model.inertia_parameters.reshape(-1), (BATCH, 1))
    inputs.pop("f_ext")
    tau = reference("inverse_dynamics", **inputs_of("inverse_dynamics", inputs))
    y = reference("inverse_dynamics_regressor", **inputs_of("inverse_dynamics_regressor", inputs))
    assert relative_error(times(y, parameters), tau) < 1e-12
    kinetic, potential, _ = evaluated(reference, "energy.energy", inputs).T
    for name, expected in (("kinetic_energy_regressor", kinetic), ("potential_energy_regressor", potential)):
        assert relative_error(times(reference(name, **inputs_of(name, inputs)), parameters), expected) < 1e-12


@pytest.mark.parametrize("name", ["iiwa14", "go2", "mixed fixed", "mixed floating"])
def test_forward_dynamics_along_the_parameters(name: str) -> None:
    """The derivative of what another inertia table does, wrenches included."""
    model = ROBOTS[name].model()
    loose = Reference(model, TraceSettings(runtime=frozenset({"inertia"})))
    inputs = random_inputs(model, 4, BATCH)
    table = np.tile(model.inertia_parameters.reshape(-1), (BATCH, 1))
    direction = 0.02 * table * np.random.default_rng(5).normal(size=table.shape)
    arguments = inputs_of("forward_dynamics", inputs)

    def moved(t: float) -> Any:
        return loose("forward_dynamics", inertia_params=table + t * direction, **arguments)

    gradient = Reference(model)("forward_dynamics_parameter_gradient", **arguments)
    assert relative_error(times(gradient, direction), slope(moved, 0.1)) < 1e-7


@pytest.mark.parametrize("name", ["panda", "mixed floating"])
@pytest.mark.parametrize("table", ["inertia", "transform"])
def test_described_tables_given_at_run_time(name: str, table: str) -> None:
    from grid_core.kernel.tables import described_values, tables_of

    model, settings = ROBOTS[name].model(), TraceSettings(runtime=frozenset({table}))
    described = described_values(tables_of(settings), model, settings)
    given = {key: np.tile(values.reshape(-1), (BATCH, 1)) for key, values in described.items()}
    baked, loose = Reference(model), partial(Reference(model, settings), **given)
    inputs = random_inputs(model, 6, BATCH)
    for algorithm in NAMES:
        arguments = inputs_of(algorithm, inputs)
        expected, found = baked(algorithm, **arguments), loose(algorithm, **arguments)
        for key in expected if isinstance(expected, dict) else [...]:
            assert relative_error(found[key], expected[key], floor=1e-3) < 1e-10, algorithm


def test_rotors_have_kinetic_energy() -> None:
    model = GOLDEN["iiwa14"].model()
    reference = Reference(model, TraceSettings(runtime=frozenset({"joint_dynamics"})))
    inputs, table = random_inputs(model, 7, BATCH), np.zeros((BATCH, 4, model.nv))
    table[:, 3] = 0.1 * np.arange(1, model.nv + 1)
    kinetic = reference("energy", joint_dynamics_params=table.reshape(BATCH, -1), **inputs_of("energy", inputs))[:, 0]
    bare = Reference(model)("energy", **inputs_of("energy", inputs))[:, 0]
    np.testing.assert_allclose(kinetic - bare, 0.5 * np.sum(table[:, 3] * inputs["qd"] ** 2, axis=1), rtol=1e-12)
