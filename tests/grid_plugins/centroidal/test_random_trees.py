"""Random trees with every joint type, on the interpreter: Pinocchio, automatic derivatives and differences."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid_core.model import Model
from tests.grid_plugins.centroidal.outputs import INVERTING, NAMES, OUTPUTS, algorithm_of, evaluated
from tests.oracle.derivatives import central_differences
from tests.oracle.evaluation import Reference, inputs_of, quiet_model, random_inputs, relative_error
from tests.oracle.trees import trees

pytest.importorskip("pinocchio")

from tests.oracle.centroidal import CentroidalOracle

quick = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
robots = st.builds(lambda text, free: quiet_model(text, floating_base=free), trees(), st.booleans()).filter(
    lambda model: model.nv > 0
)
seeds = st.integers(0, 2**16)


@given(model=robots, seed=seeds)
@quick
def test_every_algorithm_against_pinocchio(model: Model, seed: int) -> None:
    oracle, reference = CentroidalOracle(model), Reference(model)
    inputs = random_inputs(model, seed, 3)
    condition = oracle.condition(inputs["q"])
    for output in OUTPUTS:
        if algorithm_of(output) == "inverse_dynamics_regressor_gradient":
            continue
        ours = evaluated(reference, output, inputs)
        theirs = evaluated(lambda _, output=output, **given: oracle(output, **given), output, inputs)
        bound = max(1e-10, 1e-14 * condition) if algorithm_of(output) in INVERTING else 1e-10
        assert relative_error(ours, theirs, floor=1e-3) < bound, f"{output}, condition {condition:.1e}"


@given(model=robots, seed=seeds)
@settings(quick, max_examples=8)
def test_derivatives_against_differences(model: Model, seed: int) -> None:
    """What is the derivative of what along the tangent and the velocity; the last axes are (q, qd) on the right."""
    reference, nv, nb = Reference(model), model.nv, model.nb
    inputs = random_inputs(model, seed, 2)

    def slopes(output: str) -> np.ndarray:
        value = partial(evaluated, reference, output)
        given_inputs = inputs_of(algorithm_of(output), inputs)
        given_inputs = {"qd": np.zeros((2, nv)), **given_inputs}
        return central_differences(lambda **moved: value(moved).reshape(len(moved["q"]), -1), model, given_inputs)

    matrix = slopes("ccrba.matrix")[..., :nv].reshape(2, 6, nv, nv)
    assert relative_error(evaluated(reference, "dccrba.gradient", inputs), matrix, floor=1e-2) < 1e-7
    centre = slopes("com.position")[..., :nv]
    assert relative_error(evaluated(reference, "com.jacobian", inputs), centre, floor=1e-2) < 1e-7
    wrenches = slopes("f_ext_gradient.dtau")[..., :nv].reshape(2, nv, 6 * nb, nv)
    assert relative_error(evaluated(reference, "f_ext_gradient_dq.gradient", inputs), wrenches, floor=1e-2) < 1e-7
    y = slopes("inverse_dynamics_regressor.regressor").reshape(2, nv, 10 * nb, 2 * nv)
    for field, half in (("dq", y[..., :nv]), ("dqd", y[..., nv:])):
        ours = evaluated(reference, f"inverse_dynamics_regressor_gradient.{field}", inputs)
        assert relative_error(ours, np.moveaxis(half, -1, 1), floor=1e-2) < 1e-7


@given(model=robots, seed=seeds)
@settings(quick, max_examples=5)
def test_no_value_is_lost_at_rest(model: Model, seed: int) -> None:
    reference, inputs = Reference(model), random_inputs(model, seed, 2)
    inputs["q"][0], inputs["qd"][:], inputs["qdd"][:] = model.neutral(), 0.0, 0.0
    for name in NAMES:
        result = reference(name, **inputs_of(name, inputs))
        for values in result.values() if isinstance(result, dict) else [result]:
            assert np.isfinite(values).all(), name
