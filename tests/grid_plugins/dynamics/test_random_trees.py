"""Random trees with every joint type, on the interpreter: against Pinocchio, automatic derivatives and differences."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid_core.kernel import evaluate
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.oracle.derivatives import along_tangent, central_differences
from tests.oracle.evaluation import Reference, dynamics, inputs_of, quiet_model, random_inputs, relative_error
from tests.oracle.trees import trees

pytest.importorskip("pinocchio")
from tests.oracle.pinocchio import PinocchioOracle

INVERTS = {"minv", "forward_dynamics", "aba", "forward_dynamics_gradient"}
quick = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
robots = st.builds(lambda text, free: quiet_model(text, floating_base=free), trees(), st.booleans()).filter(
    lambda model: model.nv > 0
)
seeds = st.integers(0, 2**16)


def tolerance(name: str, condition: float) -> float:
    """Return 1e-10, or what rounding of an ill-conditioned mass matrix leaves."""
    return max(1e-10, 1e-14 * condition) if name in INVERTS else 1e-10


@given(model=robots, seed=seeds)
@quick
def test_every_algorithm_against_pinocchio(model: Model, seed: int) -> None:
    oracle, reference = PinocchioOracle(model), Reference(model)
    inputs = random_inputs(model, seed, 3)
    condition = oracle.condition(inputs["q"])
    for name in dynamics():
        for without in ((), ("f_ext", "qdd")):
            given_inputs = inputs_of(name, inputs, without=without)
            error = relative_error(reference(name, **given_inputs), oracle(name, **given_inputs), floor=1e-3)
            assert error < tolerance(name, condition), f"{name} without {without}: {error:.1e}, cond {condition:.1e}"


@given(model=robots, seed=seeds)
@quick
def test_gradient_against_automatic_differentiation(model: Model, seed: int) -> None:
    inputs = inputs_of("inverse_dynamics", random_inputs(model, seed, 3))
    kernel = along_tangent("inverse_dynamics", model)
    exact = evaluate(kernel, inputs)["gradient"].reshape(3, model.nv, 2 * model.nv)
    assert relative_error(Reference(model)("inverse_dynamics_gradient", **inputs), exact, floor=1e-3) < 1e-10


@given(model=robots, seed=seeds, width=st.floats(0.2, 2.0))
@quick
def test_gradients_against_differences_on_the_manifold(model: Model, seed: int, width: float) -> None:
    reference = Reference(model, TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=width))
    inputs = random_inputs(model, seed, 2)
    condition = np.linalg.cond(reference("crba", q=inputs["q"])).max()
    for name in ("inverse_dynamics", "forward_dynamics"):
        arguments = inputs_of(name, inputs)
        differences = central_differences(partial(reference, name), model, arguments)
        error = relative_error(reference(f"{name}_gradient", **arguments), differences, floor=1e-3)
        assert error < (1e-8 if name == "inverse_dynamics" else max(1e-7, 1e-10 * condition)), f"{name}: {error:.1e}"


@given(model=robots, seed=seeds)
@quick
def test_lumped_inertias_move_the_joints_like_the_full_ones(model: Model, seed: int) -> None:
    lumped, full = Reference(model), Reference(model, TraceSettings(runtime=frozenset({"inertia"})))
    inputs = random_inputs(model, seed, 3)
    table = np.tile(model.inertia_parameters.reshape(-1), (3, 1))
    for name in ("inverse_dynamics", "crba", "coriolis_matrix", "inverse_dynamics_gradient"):
        arguments = inputs_of(name, inputs)
        error = relative_error(lumped(name, **arguments), full(name, **arguments, inertia_params=table), floor=1e-3)
        assert error < 1e-11, f"{name}: {error:.1e}"
