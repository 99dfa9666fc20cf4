"""The motion of frames: against Jacobians, and derivatives of the velocity by differences on the manifold."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.model import Frame, Model
from grid_core.plugins.frames import frame_numbers
from tests.oracle.derivatives import central_differences
from tests.oracle.evaluation import Reference, relative_error
from tests.oracle.robots import MIXED, TREES

ROBOTS = {**MIXED, **{name: TREES[name] for name in ("mimic chains on a free base", "floating joints inside")}}


def frames(model: Model) -> list[Frame | None]:
    """Return the default and some frames, the last one among them."""
    return [None, *(model.frame(frame.name) for frame in (model.frames[len(model.frames) // 2], model.frames[-1]))]


@pytest.mark.parametrize("label", ROBOTS)
def test_motion_and_its_derivatives(label: str) -> None:
    model = ROBOTS[label].model()
    robot, q, qd = Reference(model), model.random(0, 4), np.random.default_rng(0).normal(size=(4, model.nv))
    for frame in frames(model):
        chosen = {} if frame is None else {"target_jid": np.tile(frame_numbers(frame), (4, 1))}
        inputs = {"q": q, "qd": qd, **chosen}
        found = robot("frame_motion", **inputs)
        jacobian = robot("frame_jacobian", q=q, **chosen)
        np.testing.assert_allclose(found["jacobian"], jacobian, atol=1e-14)
        np.testing.assert_allclose(found["velocity"], np.einsum("bij,bj->bi", jacobian, qd), atol=1e-13)
        slopes = central_differences(lambda **k: robot("frame_motion", **k)["velocity"], model, inputs)
        expected = np.concatenate([found["by_q"], found["jacobian"]], axis=2)
        assert relative_error(expected, slopes, floor=1.0) < 1e-10


@pytest.mark.parametrize("label", ROBOTS)
def test_poses_are_those_of_the_frames(label: str) -> None:
    model = ROBOTS[label].model()
    robot, q = Reference(model), model.random(1, 4)
    poses = robot("frame_transforms", q=q)
    for number, frame in enumerate(model.frames):
        chosen = np.tile(frame_numbers(model.frame(frame.name)), (4, 1))
        found = robot("frame_motion", q=q, qd=np.zeros((4, model.nv)), target_jid=chosen)["transform"]
        np.testing.assert_allclose(found, poses[:, number], atol=1e-14)
