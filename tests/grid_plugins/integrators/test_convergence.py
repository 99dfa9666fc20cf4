"""Orders of convergence, measured as slopes of errors over step sizes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from grid_core.model import Model
from grid_plugins.integrators.schemes import SCHEMES, Scheme
from tests.oracle.evaluation import Array, Reference, quiet_model
from tests.oracle.steps import state_difference
from tests.oracle.trees import chain, describe

ROBOTS = {
    "fixed": quiet_model(describe(chain("revolute", "prismatic"), 31)),
    "floating": quiet_model(describe(chain("revolute"), 32), floating_base=True),
    "spherical": quiet_model(describe(chain("spherical", "revolute"), 33)),
}
DURATION = 0.1
STEPS = np.array([8, 16, 32])
FINEST = 256
ON_ROTATIONS = {"rk4": 2}
"""Orders of schemes that rotations limit."""


@cache
def reference(label: str) -> Reference:
    return Reference(ROBOTS[label])


def flow(label: str, scheme: str, steps: int) -> Array:
    """Return the state after the whole duration, from a state that turns."""
    model: Model = ROBOTS[label]
    generator = np.random.default_rng(1)
    q, qd, u = model.random(1, 1), 2.0 * generator.normal(size=(1, model.nv)), generator.normal(size=(1, model.nv))
    x = np.concatenate([q, qd], axis=1)
    dt = np.array([[DURATION / steps]])
    for _ in range(steps):
        x = reference(label)(f"integrator_{scheme}", q=x[:, : model.nq], qd=x[:, model.nq :], u=u, dt=dt)
    return x


@cache
def exact(label: str) -> Array:
    return flow(label, "rk4_mk", FINEST)


@pytest.mark.parametrize("label", ROBOTS)
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_order(scheme: Scheme, label: str) -> None:
    errors = [
        np.linalg.norm(state_difference(ROBOTS[label], exact(label), flow(label, scheme.name, steps)))
        for steps in STEPS
    ]
    slope = -np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
    expected = scheme.order if label == "fixed" else ON_ROTATIONS.get(scheme.name, scheme.order)
    assert abs(slope - expected) < 0.15
    assert errors[-1] > 1e-13
