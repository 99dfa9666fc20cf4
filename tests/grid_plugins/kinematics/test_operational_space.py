"""The operational-space inertia where it exists, and what is returned where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_plugins.kinematics.operational import inverse_of_positive
from tests.oracle.robots import GOLDEN


def test_inverse_of_positive() -> None:
    factor = np.random.default_rng(0).normal(size=(6, 6))
    a = factor @ factor.T
    np.testing.assert_allclose(np.array(inverse_of_positive(a.tolist())) @ a, np.eye(6), atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_singular_configurations_are_finite(dtype: str, compiled: Callable[..., Any]) -> None:
    handle = compiled(GOLDEN["iiwa14"].urdf, dtype=dtype)
    stretched = np.zeros((1, 7), dtype)
    inertia = handle.osc_inertia(stretched)
    assert np.isfinite(inertia).all()
    np.testing.assert_array_equal(inertia, inertia.swapaxes(1, 2))


def test_fewer_than_six_degrees_of_freedom(compiled: Callable[..., Any]) -> None:
    """What can move has its inertia; the rest is as heavy as numbers allow."""
    handle = compiled(GOLDEN["double_pendulum_continuous"].urdf, dtype="float64")
    q = handle.random(0, 5)
    inertia = handle.osc_inertia(q)
    assert np.isfinite(inertia).all()
    moves = handle.frame_jacobian(q)
    mobility = moves @ handle.minv(q) @ moves.swapaxes(1, 2)
    np.testing.assert_allclose(mobility @ inertia @ mobility, mobility, atol=1e-6 * np.abs(mobility).max())


def test_damping(compiled: Callable[..., Any]) -> None:
    handle = compiled(GOLDEN["iiwa14"].urdf, dtype="float64")
    q = np.concatenate([np.zeros((1, 7)), handle.random(1, 4)])
    moves = handle.frame_jacobian(q)
    mobility = moves @ handle.minv(q) @ moves.swapaxes(1, 2)
    for damping in (0.01, np.array([0.1, 0.2, 0.3, 0.4, 0.5])):
        expected = np.linalg.inv(mobility + np.broadcast_to(damping, 5)[:, None, None] * np.eye(6))
        np.testing.assert_allclose(handle.osc_inertia(q, damping=damping), expected, rtol=0, atol=1e-9 * expected.max())
