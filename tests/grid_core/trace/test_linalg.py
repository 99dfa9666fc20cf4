"""Small linear algebra against NumPy, on floats and on scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from grid_core.trace import Graph, Scalar, linalg
from tests.grid_core.trace.expressions import value

SEEDS = st.integers(0, 2**32 - 1)
Array = NDArray[Any]


def dense(m: linalg.Matrix) -> Array:
    return np.array(m, float)


@given(SEEDS)
def test_products_and_sums(seed: int) -> None:
    random = np.random.default_rng(seed)
    A, B, v, w = random.normal(size=(3, 4)), random.normal(size=(4, 2)), random.normal(size=4), random.normal(size=4)
    a, b = linalg.matrix(A), linalg.matrix(B)
    np.testing.assert_allclose(linalg.matmul(a, b), A @ B, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(linalg.matvec(a, linalg.vector(v)), A @ v, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(linalg.dot(v, w), v @ w, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(linalg.madd(a, a), A + A)
    np.testing.assert_array_equal(linalg.transpose(a), A.T)
    np.testing.assert_array_equal(linalg.outer(linalg.vector(v), linalg.vector(w)), np.outer(v, w))
    np.testing.assert_array_equal(linalg.plus(linalg.vector(v), linalg.vector(w)), v + w)
    np.testing.assert_array_equal(linalg.minus(linalg.vector(v), linalg.vector(w)), v - w)
    np.testing.assert_array_equal(linalg.negative(linalg.vector(v)), -v)
    np.testing.assert_array_equal(linalg.scale(linalg.vector(v), 0.3), v * 0.3)


@given(SEEDS)
def test_cross_and_skew(seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, 3))
    np.testing.assert_array_equal(linalg.cross(linalg.vector(a), linalg.vector(b)), np.cross(a, b))
    np.testing.assert_allclose(dense(linalg.skew(linalg.vector(a))) @ b, np.cross(a, b), rtol=1e-14, atol=1e-14)


def rodrigues(axis: Array, angle: float) -> Array:
    k = dense(linalg.skew(linalg.vector(axis)))
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


@given(SEEDS)
def test_rotation_about_an_axis(seed: int) -> None:
    random = np.random.default_rng(seed)
    axis, angle = random.normal(size=3), float(random.uniform(-7.0, 7.0))
    axis /= np.linalg.norm(axis)
    found = dense(linalg.rotation_about(tuple(axis), angle))
    np.testing.assert_allclose(found, rodrigues(axis, angle), atol=4e-15)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=4e-15)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, 0, -1)])
def test_principal_axes_give_sparse_matrices(axis: tuple[float, ...]) -> None:
    graph = Graph()
    angle = graph.node("input", (), ("x", 0))
    rotation = linalg.rotation_about(axis, angle)
    constants = [x for row in rotation for x in row if not isinstance(x, Scalar)]
    assert sorted(constants) == [0.0, 0.0, 0.0, 0.0, 1.0]
    found = value(graph, [x for row in rotation for x in row], np.array([[0.7], [-2.0]])).reshape(2, 3, 3)
    for one, at in zip(found, (0.7, -2.0)):
        np.testing.assert_allclose(one, rodrigues(np.array(axis, float), at), atol=1e-15)


@given(SEEDS, st.floats(1e-3, 1e3))
def test_quaternions_of_any_length(seed: int, length: float) -> None:
    random = np.random.default_rng(seed)
    q = random.normal(size=4)
    x, y, z, w = q / np.linalg.norm(q)
    expected = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    for scaled in (q * length / np.linalg.norm(q), -q):
        rotation = dense(linalg.rotation_of_quaternion(list(map(float, scaled))))
        np.testing.assert_allclose(rotation, expected, atol=4e-15)
        np.testing.assert_allclose(np.linalg.det(rotation), 1.0, atol=1e-14)
    np.testing.assert_array_equal(linalg.rotation_of_quaternion((0.0, 0.0, 0.0, 1.0)), np.eye(3))


@given(SEEDS)
def test_roll_pitch_yaw(seed: int) -> None:
    roll, pitch, yaw = map(float, np.random.default_rng(seed).uniform(-np.pi, np.pi, 3))
    cx, sx, cy, sy, cz, sz = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    np.testing.assert_allclose(dense(linalg.rotation_of_rpy((roll, pitch, yaw))), rz @ ry @ rx, atol=1e-15)


def test_vectors_of_numpy_arrays_hold_python_floats() -> None:
    assert all(type(x) is float for row in linalg.matrix(np.ones((2, 2))) for x in row)
    assert all(type(x) is float for x in linalg.vector([1, np.int64(2), np.float32(0.5)]))
