"""Trees of every joint class on the interpreter: against derivatives of the first ones that know no mechanics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.grid_plugins.second_order.oracle import FIRST, automatic, by_differences, tensors
from tests.oracle.evaluation import Array, Inputs, Reference, quiet_model, random_inputs, relative_error
from tests.oracle.robots import MIXED, TREES, Robot
from tests.oracle.trees import trees

quick = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
robots = st.builds(lambda text, free: quiet_model(text, floating_base=free), trees(6), st.booleans()).filter(
    lambda model: model.nv > 0
)
seeds = st.integers(0, 2**16)


def friction(width: float) -> TraceSettings:
    return TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=width)


def condition(name: str, model: Model, inputs: Inputs) -> float:
    """Return the condition of the mass matrix if an algorithm inverts it, else one."""
    return float(np.linalg.cond(Reference(model)("crba", q=inputs["q"])).max()) if name == "fdsva_so" else 1.0


def disagreement(found: dict[str, Array], expected: dict[str, Array]) -> float:
    assert found.keys() == expected.keys()
    return max(relative_error(found[key], expected[key], floor=1e-2) for key in expected)


@pytest.mark.parametrize("tree", ["spherical joints", "skew axes", "mimic chains", "helical joints"])
@pytest.mark.parametrize("name", FIRST)
def test_against_automatic_derivatives(name: str, tree: str) -> None:
    model = TREES[tree].model()
    inputs = random_inputs(model, 4, 3)
    error = disagreement(tensors(name, model, inputs, friction(0.4)), automatic(name, model, inputs, friction(0.4)))
    assert error < 1e-12 * condition(name, model, inputs)


@pytest.mark.parametrize("name", FIRST)
@given(model=robots, seed=seeds, width=st.floats(0.2, 2.0))
@quick
def test_against_differences_on_the_manifold(name: str, model: Model, seed: int, width: float) -> None:
    inputs, trace = random_inputs(model, seed, 2), friction(width)
    error = disagreement(tensors(name, model, inputs, trace), by_differences(name, model, inputs, trace))
    assert error < max(1e-8, 1e-9 * condition(name, model, inputs))


@pytest.mark.parametrize("robot", MIXED.values(), ids=MIXED)
def test_what_is_symmetric_is_so_exactly(robot: Robot) -> None:
    model = robot.model()
    inputs = random_inputs(model, 1, 2)
    found = {**tensors("idsva_so", model, inputs), **tensors("fdsva_so", model, inputs)}
    for name in ("d2tau_dqd", "d2qdd_dqd"):
        np.testing.assert_array_equal(found[name], found[name].swapaxes(2, 3), err_msg=name)
    for name in ("dM_dq", "d2qdd_du"):
        np.testing.assert_array_equal(found[name], found[name].swapaxes(1, 2), err_msg=name)
