"""The golden robots: order, limits, inertias and joint dynamics of the independent reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_core.model import Model, Placement

ROBOTS = {"double_pendulum_continuous": False, "go2": True, "iiwa14": False, "panda": False}


@pytest.fixture(scope="module", params=ROBOTS, ids=str)
def case(request: pytest.FixtureRequest, golden_dir: Path, quiet_load: Callable[..., Model]) -> tuple[Model, Any]:
    model = quiet_load(golden_dir / f"{request.param}.urdf", floating_base=ROBOTS[request.param])
    return model, np.load(golden_dir / f"{request.param}.npz")


def test_joint_order_types_and_parents(case: tuple[Model, Any]) -> None:
    model, golden = case
    assert list(model.joint_names) == golden["joint_names"].tolist()
    assert [joint.kind for joint in model.joints] == golden["joint_types"].tolist()
    assert [joint.parent for joint in model.joints] == golden["parent_ids"].tolist()


def test_dimensions(case: tuple[Model, Any]) -> None:
    model, golden = case
    sizes = {"nq": golden["q"].shape[1], "nv": golden["qd"].shape[1], "nb": golden["f_ext"].shape[1]}
    assert model.dims == sizes


def test_position_limits(case: tuple[Model, Any]) -> None:
    model, golden = case
    np.testing.assert_array_equal(model.lower, golden["q_lower"])
    np.testing.assert_array_equal(model.upper, golden["q_upper"])


def test_inertial_parameters_of_merged_bodies(case: tuple[Model, Any]) -> None:
    model, golden = case
    np.testing.assert_allclose(model.inertia_parameters, golden["inertia_params"], rtol=0, atol=1e-14)


def test_leaf_joints_are_the_end_effectors(case: tuple[Model, Any]) -> None:
    model, golden = case
    assert [model.joints[i].name for i in model.leaf_joints] == golden["ee_names"].tolist()


def test_damping_and_friction_are_folded(case: tuple[Model, Any]) -> None:
    model, golden = case
    none = np.zeros(model.nv)  # of a robot whose description has no <dynamics>
    np.testing.assert_array_equal(model.damping, golden.get("joint_damping", none))
    np.testing.assert_array_equal(model.friction, golden.get("joint_friction", none))
    by_joint = golden.get("joint_damping_by_joint", np.zeros(model.nb))
    np.testing.assert_array_equal([joint.damping for joint in model.joints], by_joint)


def test_mimic_relations(case: tuple[Model, Any]) -> None:
    model, golden = case
    relations = [(j.name, j.mimic, [j.multiplier, j.offset]) for j in model.joints if j.mimic is not None]
    expected = []
    if "mimic_joint" in golden:
        keys = ("mimic_joint", "mimic_target", "mimic_multiplier_offset")
        expected = list(zip(*(golden[key].tolist() for key in keys), strict=True))
    assert relations == expected


def test_frames_in_the_world(
    case: tuple[Model, Any], world_placements: Callable[[Model, Any], dict[str, Placement]]
) -> None:
    model, golden = case
    for sample, q in enumerate(golden["q"]):
        frames = world_placements(model, q)
        for k, name in enumerate(golden["frame_names"].tolist()):
            found = np.column_stack([frames[name].rotation, frames[name].translation])
            np.testing.assert_allclose(found, golden["frame_placement"][sample, k], rtol=0, atol=1e-12)


def test_integrate_and_difference(case: tuple[Model, Any], golden_dir: Path) -> None:
    model, golden = case
    q = golden["q"]
    step = 0.1 * golden["qd"]
    np.testing.assert_allclose(model.difference(q, model.integrate(q, step)), step, rtol=0, atol=1e-12)
