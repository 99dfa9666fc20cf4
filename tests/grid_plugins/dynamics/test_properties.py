"""Laws that hold for every robot, whatever a second source says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid_core.model import Model
from grid_core.model.lie import rotate
from tests.oracle.derivatives import slope
from tests.oracle.evaluation import Array, Inputs, Reference, inputs_of, quiet_model, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS
from tests.oracle.trees import trees

quick = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
robots = st.builds(lambda text, free: quiet_model(text, floating_base=free), trees(), st.booleans()).filter(
    lambda model: model.nv > 0
)
SAMPLES = 4


def laws(model: Model) -> None:
    reference, inputs = Reference(model), random_inputs(model, 6, SAMPLES)
    mass = reference("crba", q=inputs["q"])
    mass_matrix_laws(reference, inputs, mass)
    forward_and_inverse(reference, inputs, mass)
    coriolis_laws(model, reference, inputs)
    power_balance(model, reference, inputs)


def times(m: Array, v: Array) -> Array:
    return np.asarray(np.einsum("bij,bj->bi", m, v))


def mass_matrix_laws(reference: Reference, inputs: Inputs, mass: Array) -> None:
    inverse = reference("minv", q=inputs["q"])
    condition = np.linalg.cond(mass).max()
    np.testing.assert_array_equal(mass, mass.swapaxes(1, 2))
    np.testing.assert_array_equal(inverse, inverse.swapaxes(1, 2))
    assert (np.linalg.eigvalsh(mass) > 0).all()
    identity = np.broadcast_to(np.eye(mass.shape[1]), mass.shape)
    np.testing.assert_allclose(mass @ inverse, identity, rtol=0, atol=1e-14 * condition + 1e-12)


def forward_and_inverse(reference: Reference, inputs: Inputs, mass: Array) -> None:
    qdd = reference("forward_dynamics", **inputs_of("forward_dynamics", inputs))
    condition = np.linalg.cond(mass).max()
    tolerance = 1e-14 * condition + 1e-12
    there_and_back = reference("inverse_dynamics", **inputs_of("inverse_dynamics", inputs | {"qdd": qdd}))
    assert relative_error(there_and_back, inputs["u"], floor=1.0) < tolerance * max(
        1.0, np.abs(mass @ qdd[..., None]).max()
    )
    assert relative_error(reference("aba", **inputs_of("aba", inputs)), qdd, floor=1e-3) < tolerance
    base = reference("inverse_dynamics", **inputs_of("inverse_dynamics", inputs, without=("qdd",)))
    moved = reference("inverse_dynamics", **inputs_of("inverse_dynamics", inputs))
    assert relative_error(moved - base, times(mass, inputs["qdd"]), floor=np.abs(moved).max()) < 1e-12


def coriolis_laws(model: Model, reference: Reference, inputs: Inputs) -> None:
    q, qd, gravity = inputs["q"], inputs["qd"], inputs["gravity"]
    c = reference("coriolis_matrix", q=q, qd=qd)
    bias = reference("nonlinear_effects", q=q, qd=qd, gravity=gravity)
    weight = reference("generalized_gravity", q=q, gravity=gravity)
    assert relative_error(times(c, qd) + weight, bias, floor=1e-2) < 1e-12
    change = slope(lambda t: reference("crba", q=model.integrate(q, t * qd)), 1e-3)
    skew = change - 2.0 * c
    assert np.abs(skew + skew.swapaxes(1, 2)).max() < 1e-9 * max(1.0, np.abs(c).max())


def power_balance(model: Model, reference: Reference, inputs: Inputs) -> None:
    """The power of joint forces is the rate of kinetic energy plus the power against gravity."""
    q, qd, qdd = inputs["q"], inputs["qd"], inputs["qdd"]

    def kinetic(t: float) -> Array:
        rates = qd + t * qdd
        there = model.integrate(q, t * qd + 0.5 * t * t * qdd)
        return np.asarray(0.5 * np.einsum("bi,bi->b", rates, times(reference("crba", q=there), rates)))

    free = inputs_of("inverse_dynamics", inputs, without=("f_ext",))
    power = np.einsum("bi,bi->b", reference("inverse_dynamics", **free), qd)
    against_gravity = np.einsum("bi,bi->b", reference("generalized_gravity", q=q, gravity=inputs["gravity"]), qd)
    np.testing.assert_allclose(
        slope(kinetic, 1e-3) + against_gravity, power, rtol=0, atol=1e-8 * max(1.0, np.abs(power).max())
    )


@given(model=robots)
@quick
def test_random_trees(model: Model) -> None:
    laws(model)


@pytest.mark.parametrize("label", [*GOLDEN, *HUMANOIDS])
def test_robots(label: str) -> None:
    laws((GOLDEN | HUMANOIDS)[label].model())


@given(model=st.builds(lambda text: quiet_model(text, floating_base=True), trees()))
@quick
def test_a_free_base_carries_the_weight(model: Model) -> None:
    q, gravity = model.random(1, SAMPLES), np.random.default_rng(1).normal(size=(SAMPLES, 3))
    held = Reference(model)("generalized_gravity", q=q, gravity=gravity)[:, :3]
    rotation = np.array([rotate(quaternion, np.eye(3)) for quaternion in q[:, 3:7]])  # rows: axes of the base
    weight = sum(body.mass for body in model.bodies) * np.einsum("bij,bj->bi", rotation, gravity)
    np.testing.assert_allclose(held, -weight, rtol=0, atol=1e-11 * np.abs(weight).max())
