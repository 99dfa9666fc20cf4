"""Spatial algebra against dense 6x6 matrices (Featherstone 2008, tables 2.1 to 2.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from grid_core.trace.linalg import matrix, rotation_of_quaternion, skew, vector
from grid_core.trace.spatial import Force, Inertia, Motion, Transform, dense, rotate_symmetric, skew_product, symmetric

Array = NDArray[Any]
SEEDS = st.integers(0, 2**32 - 1)
CLOSE = {"rtol": 1e-13, "atol": 1e-13}


def cross_matrix(a: Array) -> Array:
    return np.array(skew(vector(a)), float)


def random_transform(random: np.random.Generator) -> tuple[Transform, Array, Array]:
    rotation = np.array(rotation_of_quaternion(list(map(float, random.normal(size=4)))), float)
    translation = random.normal(size=3)
    return Transform(matrix(rotation), vector(translation)), rotation, translation


def motion_matrix(rotation: Array, translation: Array) -> Array:
    """Return the 6x6 matrix that maps motions of the child frame to the parent frame."""
    x = np.zeros((6, 6))
    x[:3, :3] = x[3:, 3:] = rotation
    x[3:, :3] = cross_matrix(translation) @ rotation
    return x


def inertia_matrix(inertia: Inertia) -> Array:
    h = cross_matrix(np.array(inertia.moment, float))
    full = np.zeros((6, 6))
    full[:3, :3] = np.array(dense(inertia.rotational), float)
    full[:3, 3:], full[3:, :3] = h, -h
    full[3:, 3:] = float(inertia.mass) * np.eye(3)  # type: ignore[arg-type]
    return full


def motion_cross(m: Array) -> Array:
    x = np.zeros((6, 6))
    x[:3, :3] = x[3:, 3:] = cross_matrix(m[:3])
    x[3:, :3] = cross_matrix(m[3:])
    return x


def random_inertia(random: np.random.Generator) -> Inertia:
    rotational = random.normal(size=(3, 3))
    return Inertia(
        float(random.uniform(0.1, 5.0)), vector(random.normal(size=3)), symmetric(matrix(rotational @ rotational.T))
    )


@given(SEEDS)
def test_transforms_of_motions_and_forces(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, rotation, translation = random_transform(random)
    X = motion_matrix(rotation, translation)
    m, f = random.normal(size=(2, 6))
    motion, force = Motion.of(vector(m)), Force.of(vector(f))
    np.testing.assert_allclose(x.motion_to_parent(motion).flat(), X @ m, **CLOSE)
    np.testing.assert_allclose(x.motion_to_child(motion).flat(), np.linalg.solve(X, m), **CLOSE)
    np.testing.assert_allclose(x.force_to_parent(force).flat(), np.linalg.solve(X.T, f), **CLOSE)
    np.testing.assert_allclose(
        x.motion_to_parent(motion).power(x.force_to_parent(force)), motion.power(force), rtol=1e-11, atol=1e-12
    )


@given(SEEDS)
def test_transforms_compose(seed: int) -> None:
    random = np.random.default_rng(seed)
    (a, ra, pa), (b, rb, pb) = random_transform(random), random_transform(random)
    both = a @ b
    np.testing.assert_allclose(both.rotation, ra @ rb, **CLOSE)
    np.testing.assert_allclose(both.translation, ra @ pb + pa, **CLOSE)
    m = Motion.of(vector(random.normal(size=6)))
    np.testing.assert_allclose(
        both.motion_to_parent(m).flat(), a.motion_to_parent(b.motion_to_parent(m)).flat(), **CLOSE
    )
    assert Transform() @ a == a


@given(SEEDS)
def test_cross_products(seed: int) -> None:
    m, n, f = np.random.default_rng(seed).normal(size=(3, 6))
    motion = Motion.of(vector(m))
    np.testing.assert_allclose(motion.cross_motion(Motion.of(vector(n))).flat(), motion_cross(m) @ n, **CLOSE)
    np.testing.assert_allclose(motion.cross_force(Force.of(vector(f))).flat(), -motion_cross(m).T @ f, **CLOSE)


@given(SEEDS)
def test_inertia_times_motion(seed: int) -> None:
    random = np.random.default_rng(seed)
    inertia, m = random_inertia(random), random.normal(size=6)
    np.testing.assert_allclose((inertia * Motion.of(vector(m))).flat(), inertia_matrix(inertia) @ m, **CLOSE)


@given(SEEDS)
def test_parallel_axis_theorem(seed: int) -> None:
    random = np.random.default_rng(seed)
    inertia = random_inertia(random)
    x, rotation, translation = random_transform(random)
    back = np.linalg.inv(motion_matrix(rotation, translation))
    np.testing.assert_allclose(
        inertia_matrix(inertia.to_parent(x)), back.T @ inertia_matrix(inertia) @ back, rtol=1e-12, atol=1e-12
    )


@given(SEEDS)
def test_inertias_of_two_bodies_add(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random_inertia(random), random_inertia(random)
    np.testing.assert_allclose(inertia_matrix(a + b), inertia_matrix(a) + inertia_matrix(b), **CLOSE)


@given(SEEDS)
def test_symmetric_matrices(seed: int) -> None:
    random = np.random.default_rng(seed)
    m = random.normal(size=(3, 3))
    m = m + m.T
    _, rotation, _ = random_transform(random)
    np.testing.assert_array_equal(dense(symmetric(matrix(m))), m)
    turned = rotate_symmetric(matrix(rotation), symmetric(matrix(m)))
    np.testing.assert_allclose(dense(turned), rotation @ m @ rotation.T, **CLOSE)
    a, b = random.normal(size=(2, 3))
    np.testing.assert_allclose(skew_product(vector(a), vector(b)), cross_matrix(a) @ cross_matrix(b), **CLOSE)


def test_pairs_are_vectors() -> None:
    a, b = Motion.of(range(6)), Motion.of((6.0, 5.0, 4.0, 3.0, 2.0, 1.0))
    assert (a + b).flat() == (6, 6, 6, 6, 6, 6)
    assert (a - a).flat() == Motion.zero().flat()
    assert (a * 2.0).flat() == (0, 2, 4, 6, 8, 10)
    assert isinstance(Force.zero() + Force.zero(), Force)
