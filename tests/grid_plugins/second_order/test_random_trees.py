"""Trees of every joint class on the interpreter: against derivatives of the first ones that know no mechanics."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.grid_plugins.second_order.oracle import automatic, tensors
from tests.oracle.derivatives import central_differences
from tests.oracle.evaluation import Array, Reference, inputs_of, quiet_model, random_inputs, relative_error
from tests.oracle.robots import MIXED, TREES, Robot
from tests.oracle.trees import trees

quick = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
robots = st.builds(lambda text, free: quiet_model(text, floating_base=free), trees(6), st.booleans()).filter(
    lambda model: model.nv > 0
)
seeds = st.integers(0, 2**16)


def friction(width: float) -> TraceSettings:
    return TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=width)


def disagreement(found: dict[str, Array], expected: dict[str, Array]) -> float:
    assert found.keys() == expected.keys()
    return max(relative_error(found[key], expected[key], floor=1e-2) for key in expected)


@pytest.mark.parametrize("name", ["spherical joints", "skew axes", "mimic chains", "helical joints"])
def test_inverse_dynamics_against_automatic_derivatives(name: str) -> None:
    model = TREES[name].model()
    inputs = random_inputs(model, 4, 3)
    found = tensors("idsva_so", model, inputs, friction(0.4))
    assert disagreement(found, automatic(model, inputs, friction(0.4))) < 1e-12


@given(model=robots, seed=seeds, width=st.floats(0.2, 2.0))
@quick
def test_inverse_dynamics_against_differences_on_the_manifold(model: Model, seed: int, width: float) -> None:
    nv, inputs = model.nv, inputs_of("idsva_so", random_inputs(model, seed, 2))
    reference = Reference(model, friction(width))
    matrices = (partial(reference, "inverse_dynamics_gradient"), lambda q, **_: reference("crba", q=q))
    gradient, mass = (central_differences(f, model, inputs).reshape(2, nv, -1, 2 * nv) for f in matrices)
    expected = {
        "d2tau_dq": gradient[:, :, :nv, :nv],
        "d2tau_dqd": gradient[:, :, nv:, nv:],
        "d2tau_cross": gradient[:, :, nv:, :nv],
        "dM_dq": mass[..., :nv],
    }
    assert disagreement(tensors("idsva_so", model, inputs, friction(width)), expected) < 1e-8


@pytest.mark.parametrize("robot", MIXED.values(), ids=MIXED)
def test_what_is_symmetric_is_so_exactly(robot: Robot) -> None:
    model = robot.model()
    found = tensors("idsva_so", model, random_inputs(model, 1, 2))
    np.testing.assert_array_equal(found["d2tau_dqd"], found["d2tau_dqd"].swapaxes(2, 3))
    np.testing.assert_array_equal(found["dM_dq"], found["dM_dq"].swapaxes(1, 2))
