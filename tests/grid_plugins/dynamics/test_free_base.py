"""A free base feels neither gravity nor a steady velocity; one with damping does."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.kernel.settings import TraceSettings
from grid_core.kernel.tables import TABLES, described_values
from tests.oracle.evaluation import Reference, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, MIXED, TREES

FREE = {
    "go2": GOLDEN["go2"],
    "mixed floating": MIXED["mixed floating"],
    "a free root joint": TREES["a free root joint"],
}


@pytest.mark.parametrize("label", FREE)
def test_columns_of_a_free_base_are_exact(label: str) -> None:
    model = FREE[label].model()
    inputs = random_inputs(model, 1, 5)
    gradient = Reference(model)("forward_dynamics_gradient", **inputs_of("forward_dynamics_gradient", inputs))
    by_position, by_velocity = gradient[:, :, : model.nv], gradient[:, :, model.nv :]
    joints = slice(6, None)
    assert not by_position[:, joints, :6].any()
    assert not by_velocity[:, joints, :3].any()
    assert not by_position[:, :, :3].any(), "displacements"
    turned = np.linalg.norm(by_position[:, :3, 3:6], axis=(1, 2))
    np.testing.assert_allclose(turned, np.sqrt(2.0) * np.linalg.norm(inputs["gravity"], axis=1))


@pytest.mark.parametrize("label", FREE)
def test_a_damped_base_is_not_free(label: str) -> None:
    model = FREE[label].model()
    settings = TraceSettings(runtime=frozenset({"joint_dynamics"}))
    table = described_values([TABLES["joint_dynamics"]], model, settings)["joint_dynamics_params"]
    table[0] = np.random.default_rng(0).uniform(0.1, 2.0, model.nv)
    inputs = {**random_inputs(model, 2, 4), "joint_dynamics_params": np.tile(table.ravel(), (4, 1))}
    damped = Reference(model, settings)

    def call(name: str) -> np.ndarray:
        return damped(name, **inputs_of(name, inputs), joint_dynamics_params=inputs["joint_dynamics_params"])

    inputs["qdd"] = call("forward_dynamics")
    expected = -call("minv") @ call("inverse_dynamics_gradient")
    assert relative_error(call("forward_dynamics_gradient"), expected) < 1e-9
