"""The operational-space inertia where it exists, and what is returned where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_plugins.kinematics.operational import inverse_of_products, ldl
from tests.oracle.robots import GOLDEN


def test_inverse_of_products() -> None:
    generator = np.random.default_rng(0)
    rows, weights = generator.normal(size=(6, 9)), generator.uniform(0.5, 2.0, 9)
    expected = np.linalg.inv(rows * weights @ rows.T)
    np.testing.assert_allclose(inverse_of_products(rows.tolist(), weights.tolist()), expected, atol=1e-12)


def test_rows_that_are_nearly_equal_lose_no_more_digits_than_they_must() -> None:
    """Inverting their products, of condition 1e10, loses twice as many."""
    apart = 2.0**-16 / 3.0
    rows = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0 + apart], [0.0, 1.0, 0.0]]
    apart = rows[1][2] - 1.0
    expected = (1.0 + 1.0 / apart) ** 2 + 1.0 / apart**2
    assert inverse_of_products(rows, [1.0, 1.0, 1.0])[0][0] == pytest.approx(expected, rel=1e-9)
    x = np.array(rows)
    assert np.linalg.inv(x @ x.T)[0][0] != pytest.approx(expected, rel=1e-9)


def test_factors() -> None:
    x = np.random.default_rng(0).normal(size=(5, 5))
    lower, d = ldl((x @ x.T).tolist())
    assert np.array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(np.array(lower) * d @ np.array(lower).T, x @ x.T, atol=1e-12)


def test_single_precision_survives_next_to_singularities(compiled: Callable[..., Any]) -> None:
    single, double = (compiled(GOLDEN["iiwa14"].urdf, dtype=dtype) for dtype in ("float32", "float64"))
    q = single.random(3, 4000)
    expected = double.osc_inertia(q)
    error = np.abs(single.osc_inertia(q) - expected)
    assert error.max() <= 2e-4 * np.abs(expected).max()
    assert np.quantile(error.max(axis=(1, 2)) / np.abs(expected).max(axis=(1, 2)), 0.99) <= 2e-5


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
