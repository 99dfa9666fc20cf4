"""Exponentials and logarithms against values computed with 50 digits, from tiny angles to half a turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_core.model import lie


@pytest.fixture(scope="module")
def exact(golden_dir: Path) -> Any:
    return np.load(golden_dir / "primitives.npz")


def same_rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1))


@pytest.mark.parametrize("prefix", ["so3", "small"])
def test_exponential(exact: Any, prefix: str) -> None:
    error = same_rotation(lie.exp_quaternion(exact[f"{prefix}__phi"]), exact[f"{prefix}__quat_xyzw"])
    assert error.max() < 1e-15


def test_translation_of_small_motions(exact: Any) -> None:
    found = lie.left_jacobian_times(exact["small__phi"], exact["small__rho"])
    np.testing.assert_allclose(found, exact["small__translation"], rtol=1e-15, atol=1e-15)


def test_inverse_translation_of_small_motions(exact: Any) -> None:
    found = lie.inverse_left_jacobian_times(exact["small__phi"], exact["small__translation"])
    np.testing.assert_allclose(found, exact["small__rho"], rtol=1e-14, atol=1e-14)


def test_left_jacobian(exact: Any) -> None:
    for axis in range(3):
        column = lie.left_jacobian_times(exact["so3__phi"], np.broadcast_to(np.eye(3)[axis], (40, 3)))
        np.testing.assert_allclose(column, exact["so3__left_jacobian"][:, :, axis], rtol=0, atol=1e-8)


def test_logarithm_near_half_a_turn(exact: Any) -> None:
    found = lie.log_quaternion(exact["near_pi__quat_xyzw"])
    np.testing.assert_allclose(
        np.linalg.norm(found, axis=-1), np.linalg.norm(exact["near_pi__log"], axis=-1), rtol=1e-15
    )
    np.testing.assert_allclose(same_rotation(found, exact["near_pi__log"]), 0, atol=1e-14)


def test_logarithm_undoes_the_exponential() -> None:
    phi = np.random.default_rng(0).standard_normal((200, 3))
    phi *= (np.geomspace(1e-12, 3.1, 200) / np.linalg.norm(phi, axis=-1))[:, None]
    np.testing.assert_allclose(lie.log_quaternion(lie.exp_quaternion(phi)), phi, rtol=1e-13, atol=0)
    np.testing.assert_allclose(lie.log_quaternion(-lie.exp_quaternion(phi)), phi, rtol=1e-13, atol=0)


def test_series_meets_the_closed_form() -> None:
    rho = np.array([0.3, -1.0, 0.7])
    direction = np.array([0.48, 0.6, 0.64])
    for function in (lie.left_jacobian_times, lie.inverse_left_jacobian_times):
        below = function(direction * lie.SERIES * (1 - 1e-15), rho)
        above = function(direction * lie.SERIES * (1 + 1e-15), rho)
        np.testing.assert_allclose(below, above, rtol=0, atol=1e-15)


def test_rotate_is_the_sandwich_product() -> None:
    generator = np.random.default_rng(1)
    quaternion = lie.exp_quaternion(generator.standard_normal((20, 3)))
    vector = generator.standard_normal((20, 3))
    pure = np.concatenate([vector, np.zeros((20, 1))], axis=-1)
    sandwich = lie.quaternion_multiply(lie.quaternion_multiply(quaternion, pure), lie.conjugate(quaternion))
    np.testing.assert_allclose(lie.rotate(quaternion, vector), sandwich[:, :3], rtol=0, atol=1e-14)
