"""Rotations where they are delicate: pitch of 90 degrees, quaternions of every sign, logarithms near 0 and pi."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from grid_core.trace.lie import quaternion_of
from grid_core.trace.scalar import Graph, Scalar
from grid_plugins.kinematics.rotations import RotationVector, RpyRates, rpy_of
from tests.oracle.evaluation import Array
from tests.oracle.robots import TESTS, Robot
from tests.oracle.trees import chain, describe

BALL = Robot(describe(chain("spherical"), 3))
"""One spherical joint: its end effector takes every orientation, close to exactly that of the configuration."""


def matrices(quaternions: Array) -> Array:
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def applied(function: Callable[[Any], Any], rotation: Array) -> Array:
    """Return what a traced function makes of constant rotations."""
    return np.array([function(tuple(map(tuple, r.tolist()))) for r in rotation], dtype=float)


def random_quaternions(seed: int, n: int) -> Array:
    q = np.random.default_rng(seed).normal(size=(n, 4))
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


def test_quaternions_of_every_rotation() -> None:
    corners = np.concatenate([np.eye(4), np.array([[1, 1, 0, 0], [0, 1, 0, -1], [1, -1, 1, 1]]) / 1.0])
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    near = corners[:, None] + 1e-9 * random_quaternions(1, 5)
    near /= np.linalg.norm(near, axis=2, keepdims=True)
    quaternions = np.concatenate([random_quaternions(0, 500), corners, near.reshape(-1, 4)])
    found = applied(quaternion_of, matrices(quaternions))
    assert (found[:, 3] >= 0.0).all()
    sign = np.sign(np.sum(found * quaternions, axis=1, keepdims=True))
    np.testing.assert_allclose(found, sign * quaternions, rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=0, atol=5e-16)


def test_unit_quaternions_of_rounded_rotations() -> None:
    """A matrix with the errors of single precision still gives a quaternion of unit length."""
    rotation = matrices(random_quaternions(2, 200)) + 1e-6 * np.random.default_rng(2).normal(size=(200, 3, 3))
    np.testing.assert_allclose(np.linalg.norm(applied(quaternion_of, rotation), axis=1), 1.0, rtol=0, atol=5e-16)


@pytest.mark.parametrize("part", ["small", "so3", "near_pi"])
def test_logarithms_against_many_digits(part: str) -> None:
    golden = np.load(TESTS / "golden" / "primitives.npz")
    if part == "near_pi":
        quaternions, vectors = golden["near_pi__quat_xyzw"], golden["near_pi__log"]
    else:
        quaternions, vectors = golden[f"{part}__quat_xyzw"], golden[f"{part}__phi"]
        short = np.linalg.norm(vectors, axis=1) < np.pi
        quaternions, vectors = quaternions[short], vectors[short]
    found = applied(lambda r: RotationVector.of(r).vector, matrices(quaternions))
    flip = np.where(np.sum(found * vectors, axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    half_turn = np.linalg.norm(vectors, axis=1, keepdims=True) > np.pi - 1e-9  # either direction of the axis
    np.testing.assert_allclose(found, np.where(half_turn, flip, 1.0) * vectors, rtol=0, atol=2e-15)


def exact_rates(phi: Array) -> Array:
    """Return the inverse left Jacobian of SO(3) by its series, with 40 digits."""
    with mpmath.workdps(40):
        x, y, z = (mpmath.mpf(float(value)) for value in phi)
        skew = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        term = total = mpmath.eye(3)
        for n in range(2, 60):
            term = term * skew / n
            total = total + term
        return np.array((total**-1).tolist(), dtype=float)


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-8, 1e-4, 0.0199, 0.0201, 0.3, 1.0, 2.0, 3.0, 3.14159])
def test_rates_of_logarithms(size: float) -> None:
    axis = np.array([0.6, -0.48, 0.64])
    quaternion = np.append(axis * np.sin(0.5 * size), np.cos(0.5 * size))
    found = applied(lambda r: RotationVector.of(r).rates, matrices(quaternion[None]))[0]
    np.testing.assert_allclose(found, exact_rates(size * axis), rtol=0, atol=2e-14)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_angles_at_a_pitch_of_90_degrees(sign: float) -> None:
    upright = np.array([[0.0, 0.0, sign], [0.0, 1.0, 0.0], [-sign, 0.0, 0.0]])
    roll, pitch, yaw = applied(rpy_of, upright[None])[0]
    assert (roll, pitch, yaw) == (0.0, sign * 0.5 * np.pi, 0.0)
    rates = RpyRates.at(tuple(map(tuple, upright.tolist())))
    assert np.isfinite([rates.of(w) for w in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]).all()
    assert np.isfinite(rates.change(rates.of((1.0, 2.0, 3.0)), rates.of((3.0, -1.0, 2.0)))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing_is_nan_in_compiled_code(dtype: str, compiled: Callable[..., Any]) -> None:
    """At every multiple of an eighth turn about each axis, exactly and nearly."""
    handle = compiled(BALL.urdf, dtype=dtype)
    eighths = np.array(
        [np.append(axis * np.sin(n * np.pi / 8), np.cos(n * np.pi / 8)) for axis in np.eye(3) for n in range(16)]
    )
    q = np.concatenate([eighths, np.round(eighths), eighths + 1e-7])
    q = q[np.linalg.norm(q, axis=1) > 0.5].astype(dtype)
    for name in (
        "end_effector_pose",
        "end_effector_pose_gradient",
        "end_effector_pose_hessian",
        "end_effector_placement",
        "end_effector_log_pose",
        "end_effector_log_pose_gradient",
        "fk_batched",
        "osc_inertia",
    ):
        assert np.isfinite(getattr(handle, name)(q)).all(), name
    names = {"ee_joint_names": "l00"}
    assert np.isfinite(handle.end_effector_pose_runtime(q, **names)).all()
    assert np.isfinite(handle.end_effector_pose_gradient_runtime(q, **names)).all()


def test_quaternions_do_not_branch_on_what_is_not_taken() -> None:
    """The traced function has no division by what may be zero."""
    graph = Graph()
    r = tuple(tuple(graph.node("input", (), ("r", 3 * i + j)) for j in range(3)) for i in range(3))
    divisions = [node for node in graph.nodes if node.op == "div"]
    assert all(isinstance(x, Scalar) for x in quaternion_of(r))
    divisions = [node for node in graph.nodes if node.op == "div"]
    assert [node.args[1].op for node in divisions if isinstance(node.args[1], Scalar)] == ["sqrt"]
