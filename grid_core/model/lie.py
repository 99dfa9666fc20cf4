"""Rotations and rigid motions in batches: quaternions xyzw, exponentials and logarithms exact near the identity."""

from __future__ import annotations

import numpy as np

from grid_core.model.placement import Array

SERIES = 0.05
"""Angles below this (rad) use power series, truncated below float64 resolution; closed forms cancel there."""


def quaternion_multiply(a: Array, b: Array) -> Array:
    """Hamilton product ``a b`` of quaternions xyzw, shape (..., 4)."""
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([vector, aw * bw - np.sum(av * bv, axis=-1, keepdims=True)], axis=-1)


def conjugate(quaternion: Array) -> Array:
    """Inverse rotation of a unit quaternion xyzw, shape (..., 4)."""
    return np.concatenate([-quaternion[..., :3], quaternion[..., 3:]], axis=-1)


def rotate(quaternion: Array, vector: Array) -> Array:
    """Rotate vectors (..., 3) by unit quaternions xyzw (..., 4)."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2.0 * np.cross(u, vector)
    return vector + w * t + np.cross(u, t)


def _angle(phi: Array) -> Array:
    return np.asarray(np.linalg.norm(phi, axis=-1, keepdims=True), dtype=np.float64)


def _blend(angle: Array, series: Array, closed: Array) -> Array:
    return np.where(angle < SERIES, series, closed)


def exp_quaternion(phi: Array) -> Array:
    """Unit quaternion xyzw of a rotation vector (rad), shape (..., 3) -> (..., 4)."""
    half = 0.5 * _angle(phi)
    return np.concatenate([0.5 * np.sinc(half / np.pi) * phi, np.cos(half)], axis=-1)


def log_quaternion(quaternion: Array) -> Array:
    """Rotation vector in [0, pi] of a unit quaternion xyzw of either sign, shape (..., 4) -> (..., 3)."""
    quaternion = np.where(quaternion[..., 3:] < 0.0, -quaternion, quaternion)
    vector, w = quaternion[..., :3], quaternion[..., 3:]
    sine = _angle(vector)
    safe = np.where(sine > 0.0, sine, 1.0)
    factor = np.where(sine > 0.0, 2.0 * np.arctan2(sine, w) / safe, 2.0)
    return factor * vector


def left_jacobian_times(phi: Array, rho: Array) -> Array:
    """``V(phi) rho`` with the SO(3) left Jacobian ``V = 1 + b [phi]x + c [phi]x^2``, shape (..., 3).

    Source: Sola, Deray, Atchuthan, "A micro Lie theory for state estimation in robotics", eq. 145.
    """
    angle = _angle(phi)
    square = angle * angle
    safe = np.where(angle > 0.0, angle, 1.0)
    half_sinc = np.sinc(0.5 * angle / np.pi)
    b = 0.5 * half_sinc * half_sinc
    series = (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))) / 6.0
    c = _blend(angle, series, (angle - np.sin(angle)) / safe**3)
    cross = np.cross(phi, rho)
    return rho + b * cross + c * np.cross(phi, cross)


def inverse_left_jacobian_times(phi: Array, translation: Array) -> Array:
    """``V(phi)^-1 translation``, shape (..., 3), for angles up to pi.

    Source: Sola, Deray, Atchuthan, "A micro Lie theory for state estimation in robotics", eq. 146.
    """
    angle = _angle(phi)
    square = angle * angle
    safe = np.where(angle > 0.0, angle, 1.0)
    series = (1.0 + square / 60.0 * (1.0 + square / 42.0 * (1.0 + square / 40.0))) / 12.0
    half = 0.5 * safe
    closed = (1.0 - half * np.cos(half) / np.sin(half)) / safe**2
    cross = np.cross(phi, translation)
    return translation - 0.5 * cross + _blend(angle, series, closed) * np.cross(phi, cross)
