"""Questions that the rest of the project asks a model, its immutability, and its JSON text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grid_core.errors import ArgumentError
from grid_core.model import Model, Placement


@pytest.fixture(scope="module")
def go2(quiet_load: Callable[..., Model], golden_dir: Path) -> Model:
    return quiet_load(golden_dir / "go2.urdf", floating_base=True)


@pytest.fixture(scope="module")
def panda(quiet_load: Callable[..., Model], golden_dir: Path) -> Model:
    return quiet_load(golden_dir / "panda.urdf")


def test_tree_queries(go2: Model) -> None:
    assert go2.children(-1) == (0,)
    assert go2.children(0) == (1, 4, 7, 10)
    assert go2.children(3) == ()
    assert go2.ancestors(6) == (6, 5, 4, 0)
    assert go2.ancestors(-1) == ()
    assert go2.subtree(4) == (4, 5, 6)
    assert go2.subtree(0) == tuple(range(13))
    assert go2.leaf_joints == (3, 6, 9, 12)


def test_supports_are_velocity_slots(go2: Model, panda: Model) -> None:
    assert go2.supports(5) == (0, 1, 2, 3, 4, 5, 9, 10)
    assert panda.supports(8) == tuple(range(8))  # the follower moves with its target's slot


def test_columns_of_a_follower_are_its_own_axis(panda: Model) -> None:
    assert panda.joints[7].columns == ((0, 0, 0, 0, 1, 0),)
    assert panda.joints[8].columns == ((0, 0, 0, 0, -1, 0),)
    assert panda.joints[8].v_index == panda.joints[7].v_index


def test_frames_of_joints_and_links(panda: Model) -> None:
    tip = panda.frame("panda_hand_tcp")
    assert (tip.kind, tip.body) == ("link", 6)
    np.testing.assert_allclose(tip.placement.translation, [0, 0, 0.107 + 0.1034], atol=1e-15)
    assert panda.frame("panda_link0").body == -1
    with pytest.raises(ArgumentError, match="no joint or link 'panda_joint12'; did you mean 'panda_joint"):
        panda.frame("panda_joint12")


def test_every_link_belongs_to_one_body_or_the_world(panda: Model) -> None:
    merged = [link for body in panda.bodies for link in body.links]
    world = [frame.name for frame in panda.frames if frame.kind == "link" and frame.body == -1]
    assert sorted(merged + world) == sorted(frame.name for frame in panda.frames if frame.kind == "link")
    assert "panda_hand" in panda.bodies[6].links


def test_models_cannot_be_changed(panda: Model) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        panda.nq = 3  # type: ignore[misc]
    for array in (panda.bodies[0].inertia, panda.joints[0].placement.rotation, panda.lower, panda.inertia_parameters):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize("robot", ["go2", "panda"])
def test_json_is_lossless(robot: str, request: pytest.FixtureRequest) -> None:
    model: Model = request.getfixturevalue(robot)
    copy = Model.from_json(model.to_json())
    assert copy.to_json() == model.to_json()
    assert copy.joint_names == model.joint_names
    assert copy.configuration_layout == model.configuration_layout
    assert [type(getattr(a, f.name)) for a in copy.joints for f in dataclasses.fields(a)] == [
        type(getattr(a, f.name)) for a in model.joints for f in dataclasses.fields(a)
    ]
    np.testing.assert_array_equal(copy.inertia_parameters, model.inertia_parameters)
    for a, b in zip(copy.frames, model.frames, strict=True):
        np.testing.assert_array_equal(a.placement.rotation, b.placement.rotation)
        np.testing.assert_array_equal(a.placement.translation, b.placement.translation)


def test_json_is_strict_and_versioned(panda: Model) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    plain = json.loads(panda.to_json(), parse_constant=refuse)
    plain["format"] = 0
    with pytest.raises(ArgumentError, match="format 0"):
        Model.from_json(json.dumps(plain))


def test_representation_is_one_line(go2: Model) -> None:
    assert repr(go2) == "<Model 'go2_description': floating base, nq=19, nv=18, nb=13>"


def test_placement_composition_and_inverse() -> None:
    a = Placement.from_xyz_rpy((1, 2, 3), (0.1, 0.2, 0.3))
    b = Placement.from_screw((0.6, 0.0, 0.8), 0.7, 0.5)
    point = np.array([0.3, -0.2, 0.9])
    ab = a @ b
    inner = b.rotation @ point + b.translation
    np.testing.assert_allclose(ab.rotation @ point + ab.translation, a.rotation @ inner + a.translation, atol=1e-15)
    back = ab @ ab.inverse()
    np.testing.assert_allclose(back.rotation, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(back.translation, 0, atol=1e-15)
    np.testing.assert_allclose(b.translation, 0.5 * np.array([0.6, 0.0, 0.8]), atol=1e-16)


def test_quarter_turns_are_exact() -> None:
    turn = Placement.from_xyz_rpy((0, 0, 0), (np.pi / 2, 0, np.pi))
    assert set(np.abs(turn.rotation).ravel().tolist()) == {0.0, 1.0}
    assert not np.signbit(turn.rotation[turn.rotation == 0]).any()
