"""Configurations and inputs that look for trouble."""

from __future__ import annotations

import numpy as np

from grid_core.model import Model
from grid_core.model.model import ROTARY
from tests.oracle.evaluation import Array


def special_configurations(model: Model, generator: np.random.Generator) -> Array:
    """Return configurations neutral, next to it, at right angles, wound up and turned over."""
    neutral = model.neutral()
    turns, widths = np.zeros(model.nv), np.zeros(model.nv)
    for joint in model.joints:
        turns[joint.v_index] = joint.kind in ROTARY
        widths[joint.v_index : joint.v_index + joint.nv] = joint.nv
    steps = [np.zeros(model.nv), 1e-9 * generator.normal(size=model.nv), 1e-4 * generator.normal(size=model.nv)]
    steps += [turns * angle for angle in (0.5 * np.pi, -0.5 * np.pi, np.pi, 7.0)]
    steps.append(np.where(widths > 1, np.pi / np.sqrt(3.0), 0.0))
    return np.array([model.integrate(neutral, step) for step in steps])
