"""Inputs of the kinematics family, and how its results are compared: angles wrap and quaternions have two signs."""

from __future__ import annotations

import numpy as np

from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from tests.oracle.configurations import special_configurations
from tests.oracle.evaluation import Array, Inputs

PLAIN = (
    "end_effector_pose",
    "end_effector_pose_gradient",
    "fk_batched",
    "end_effector_placement",
    "end_effector_jacobian",
    "end_effector_log_pose",
    "end_effector_log_pose_gradient",
    "frame_placements",
    "frame_transforms",
    "frame_jacobian",
    "frame_jacobian_dot",
    "osc_inertia",
    "contact_fext",
)
"""What the second source has under the same name; run-time frames have tests of their own."""

COMPILED_DAILY = (("mixed fixed", "float64"), ("mixed floating", "float32"))
"""Robots, and the dtype of each, that are compiled unless slow tests are asked for."""

ANGLES = ("end_effector_pose", "end_effector_pose_runtime")
QUATERNIONS = ("fk_batched", "end_effector_placement", "frame_placements")
SCALAR_FIRST = "fk_batched"


def with_contacts(model: Model) -> TraceSettings:
    """Return settings with a few contact frames, movable and fixed ones, two on one body where there are."""
    moving = [model.frame(frame.name).name for frame in model.frames if model.frame(frame.name).body >= 0]
    names = dict.fromkeys([*moving[:3], *moving[-3:]])
    return TraceSettings(contact_frames=tuple(names))


def kinematic_inputs(model: Model, settings: TraceSettings, seed: int, n: int) -> Inputs:
    """Return ``n`` random samples and the special configurations."""
    generator = np.random.default_rng(seed)
    q = np.concatenate([model.random(seed, n), special_configurations(model, generator)])
    return {
        "q": q,
        "qd": generator.normal(size=(len(q), model.nv)),
        "f_c": generator.normal(size=(len(q), 6 * len(settings.contact_frames))),
        "damping": np.full(len(q), 0.5),
    }


def difference(name: str, ours: Array, theirs: Array) -> Array:
    """Return the difference of two results, angles modulo a turn and quaternions up to sign."""
    assert ours.shape == theirs.shape
    gap = np.asarray(ours, float) - theirs
    if name in ANGLES:
        gap = gap.reshape(-1, 6)
        gap[:, 3:] = (gap[:, 3:] + np.pi) % (2.0 * np.pi) - np.pi
    if name in QUATERNIONS:
        flat, other = np.asarray(ours, float).reshape(-1, 7), theirs.reshape(-1, 7)
        w = 3 if name == SCALAR_FIRST else 6
        undecided = np.abs(other[:, w]) < 1e-6
        sign = np.where(undecided, np.sign(np.sum(flat[:, 3:] * other[:, 3:], axis=1)), 1.0)
        gap = np.concatenate([flat[:, :3] - other[:, :3], flat[:, 3:] - sign[:, None] * other[:, 3:]], axis=1)
    return gap.reshape(theirs.shape)


def error(name: str, ours: Array, theirs: Array) -> float:
    """Return the largest error over a batch, each sample relative to its largest entry, at least 1."""
    assert np.isfinite(ours).all(), name
    if theirs.size == 0:
        return 0.0
    gap = np.abs(difference(name, ours, theirs)).reshape(len(theirs), -1).max(axis=1)
    return float((gap / np.maximum(np.abs(theirs).reshape(len(theirs), -1).max(axis=1), 1.0)).max())
