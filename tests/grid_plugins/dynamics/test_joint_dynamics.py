"""Damping and Coulomb friction: signs, widths, slopes, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grid_core.kernel import trace_algorithm
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.oracle.evaluation import (
    Array,
    Inputs,
    Reference,
    algorithms,
    dynamics,
    inputs_of,
    quiet_model,
    random_inputs,
    relative_error,
)
from tests.oracle.trees import Node, chain, describe

NODES = (*chain("revolute", "spherical", "prismatic"), Node("revolute", 0, follows=(2, -1.5, 0.1)))


@pytest.fixture(scope="module", params=[False, True], ids=["fixed", "floating"])
def model(request: pytest.FixtureRequest) -> Model:
    return quiet_model(describe(NODES, 21), floating_base=request.param)


@pytest.fixture(scope="module")
def inputs(model: Model) -> Inputs:
    return random_inputs(model, 4, 6)


def settings(model: Model, shape: str) -> TraceSettings:
    widths = tuple(np.linspace(0.1, 2.0, model.nv).tolist())
    return TraceSettings(joint_dynamics=True, friction_model=shape, friction_width=widths if shape == "tanh" else 0.03)


def law(model: Model, shape: str, qd: Array) -> tuple[Array, Array]:
    """Return the friction torque and its slope, written out from the documentation."""
    if shape == "sign":
        return model.damping * qd + model.friction * np.sign(qd), np.broadcast_to(model.damping, qd.shape)
    widths = np.linspace(0.1, 2.0, model.nv)
    slope = model.damping + model.friction / widths / np.cosh(qd / widths) ** 2
    return model.damping * qd + model.friction * np.tanh(qd / widths), slope


def pair(model: Model, shape: str, name: str, inputs: Inputs) -> tuple[Array, Array]:
    """Return results with and without joint dynamics."""
    arguments = inputs_of(name, inputs)
    return Reference(model, settings(model, shape))(name, **arguments), Reference(model)(name, **arguments)


@pytest.mark.parametrize("shape", ["sign", "tanh"])
def test_inverse_dynamics_adds_it(model: Model, inputs: Inputs, shape: str) -> None:
    rough, smooth = pair(model, shape, "inverse_dynamics", inputs)
    np.testing.assert_allclose(rough - smooth, law(model, shape, inputs["qd"])[0], rtol=0, atol=1e-12)
    assert np.abs(rough - smooth).max() > 0.1


@pytest.mark.parametrize("name", ["forward_dynamics", "aba"])
@pytest.mark.parametrize("shape", ["sign", "tanh"])
def test_forward_dynamics_subtracts_it_from_the_force(model: Model, inputs: Inputs, shape: str, name: str) -> None:
    rough, _ = pair(model, shape, name, inputs)
    less = inputs | {"u": inputs["u"] - law(model, shape, inputs["qd"])[0]}
    assert relative_error(rough, Reference(model)(name, **inputs_of(name, less))) < 1e-11


@pytest.mark.parametrize("shape", ["sign", "tanh"])
def test_gradients_carry_its_slope(model: Model, inputs: Inputs, shape: str) -> None:
    rough, smooth = pair(model, shape, "inverse_dynamics_gradient", inputs)
    slope = law(model, shape, inputs["qd"])[1]
    np.testing.assert_allclose(rough[..., : model.nv], smooth[..., : model.nv], rtol=0, atol=1e-11)
    difference = rough[..., model.nv :] - smooth[..., model.nv :]
    np.testing.assert_allclose(difference, slope[..., None] * np.eye(model.nv), rtol=0, atol=1e-11)

    less = inputs | {"u": inputs["u"] - law(model, shape, inputs["qd"])[0]}
    plain = Reference(model)("forward_dynamics_gradient", **inputs_of("forward_dynamics_gradient", less))
    plain[..., model.nv :] -= Reference(model)("minv", q=inputs["q"]) * slope[:, None, :]
    assert relative_error(pair(model, shape, "forward_dynamics_gradient", inputs)[0], plain) < 1e-11


@pytest.mark.parametrize("name", ["crba", "minv", "nonlinear_effects", "generalized_gravity", "coriolis_matrix"])
def test_the_rest_knows_nothing_of_it(model: Model, inputs: Inputs, name: str) -> None:
    rough, smooth = pair(model, "tanh", name, inputs)
    np.testing.assert_array_equal(rough, smooth)


@pytest.mark.parametrize("shape", ["sign", "tanh"])
def test_nothing_at_rest(model: Model, inputs: Inputs, shape: str) -> None:
    rest = inputs | {"qd": np.zeros_like(inputs["qd"])}
    rough, smooth = pair(model, shape, "inverse_dynamics", rest)
    np.testing.assert_array_equal(rough, smooth)
    rest["qd"] = -rest["qd"]  # minus zero
    rough, smooth = pair(model, shape, "inverse_dynamics", rest)
    np.testing.assert_array_equal(rough, smooth)


def test_a_narrow_tanh_is_a_sign(model: Model, inputs: Inputs) -> None:
    narrow = TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=1e-6)
    arguments = inputs_of("inverse_dynamics", inputs)
    steep = Reference(model, narrow)("inverse_dynamics", **arguments)
    assert relative_error(steep, Reference(model, settings(model, "sign"))("inverse_dynamics", **arguments)) < 1e-12


@pytest.mark.parametrize("name", dynamics())
def test_free_of_cost_where_there_is_none(model: Model, name: str) -> None:
    smooth = replace(model, joints=tuple(replace(j, damping=0.0, friction=0.0) for j in model.joints))
    assert count(name, smooth, settings(model, "tanh")) == count(name, smooth, None)


def test_cost(model: Model) -> None:
    """Damping and friction are a product, a function and two sums per slot, where the slot has them."""
    slots = int(np.count_nonzero(model.friction))
    extra = count("inverse_dynamics", model, settings(model, "tanh")) - count("inverse_dynamics", model, None)
    assert extra <= 6 * slots


def count(name: str, model: Model, chosen: TraceSettings | None) -> Any:
    return sum(trace_algorithm(algorithms()[name], model, algorithms(), chosen).operations().values())
