"""Maps on the configuration space: neutral and random configurations, retraction and its inverse.

These are the NumPy reference of what generated code computes. Every function takes any leading batch axes; the last
axis is the configuration (``nq``: quaternions xyzw) or the tangent (``nv``: body frame, linear before angular).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import ArgumentError
from grid_core.model import lie
from grid_core.model.placement import Array

if TYPE_CHECKING:
    from grid_core.model.model import Joint, Model


def neutral(model: Model) -> Array:
    """The neutral configuration, shape (nq,): zero values and identity rotations.

    Zeros alone are no configuration of a robot with quaternions.
    """
    q = np.zeros(model.nq)
    for slot in _quaternion_slots(model):
        q[slot.stop - 1] = 1.0
    return q


def random(model: Model, seed: int, n: int) -> Array:
    """Draw configurations uniformly inside the position limits.

    Parameters
    ----------
    model : Model
        The robot.
    seed : int
        The same seed gives the same draws.
    n : int
        Number of configurations.

    Returns
    -------
    ndarray, shape (n, nq)
        Unbounded angles lie in [-pi, pi], unbounded lengths in [-1, 1] m, one-sided ranges are that wide; rotations are
        uniform unit quaternions of either sign.
    """
    generator = np.random.default_rng(seed)
    q = np.empty((n, model.nq))
    for joint in model.joints:
        if joint.mimic is None:
            q[:, joint.q_index : joint.q_index + joint.nq] = _draw(joint, generator, n)
    return q


def _draw(joint: Joint, generator: np.random.Generator, n: int) -> Array:
    if joint.kind == "floating":
        return np.concatenate([generator.uniform(-1.0, 1.0, (n, 3)), _unit_quaternions(generator, n)], axis=-1)
    if joint.kind == "spherical":
        return _unit_quaternions(generator, n)
    half = 1.0 if joint.kind == "prismatic" else np.pi
    lower, upper = joint.lower, joint.upper
    if not np.isfinite(lower):
        lower = upper - 2.0 * half if np.isfinite(upper) else -half
    if not np.isfinite(upper):
        upper = lower + 2.0 * half
    return generator.uniform(lower, upper, (n, 1))


def _unit_quaternions(generator: np.random.Generator, n: int) -> Array:
    return _unit(generator.standard_normal((n, 4)))


def integrate(model: Model, q: Any, v: Any) -> Array:
    """Retraction ``q (+) v``: move from ``q`` along the tangent ``v`` for unit time.

    A free base moves by the SE(3) exponential in its own frame, ``p + R V(phi) rho`` and ``quat * exp(phi)``; a
    spherical joint by ``quat * exp(phi)``; other coordinates add. Input quaternions are normalised first, the result
    has unit norm.

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like, shape (..., nq)
        Configurations.
    v : array_like, shape (..., nv)
        Tangent steps; leading axes broadcast.

    Returns
    -------
    ndarray, shape (..., nq)

    Raises
    ------
    ArgumentError
        A wrong last axis, batch axes that do not broadcast, or a quaternion without a direction.
    """
    q, v = _checked("q", q, model.nq), _checked("v", v, model.nv)
    batch = _batch(q, v)
    result = np.empty((*batch, model.nq))
    for kind, q0, v0, nq, nv in model.configuration_layout:
        step = np.broadcast_to(v[..., v0 : v0 + nv], (*batch, nv))
        start = np.broadcast_to(q[..., q0 : q0 + nq], (*batch, nq))
        result[..., q0 : q0 + nq] = _retract(kind, start, step)
    return result


def _retract(kind: str, start: Array, step: Array) -> Array:
    if kind == "euclidean":
        return start + step
    quaternion = _normalised("q", start[..., -4:])
    turned = _unit(lie.quaternion_multiply(quaternion, lie.exp_quaternion(step[..., -3:])))
    if kind == "spherical":
        return turned
    moved = start[..., :3] + lie.rotate(quaternion, lie.left_jacobian_times(step[..., 3:], step[..., :3]))
    return np.concatenate([moved, turned], axis=-1)


def difference(model: Model, q0: Any, q1: Any) -> Array:
    """Tangent that leads from ``q0`` to ``q1``: ``integrate(q0, difference(q0, q1)) = q1``.

    The SE(3) logarithm of ``q0^-1 q1`` for a free base, the SO(3) logarithm for a spherical joint. Rotations take the
    short way, whatever the signs of the quaternions.

    Parameters
    ----------
    model : Model
        The robot.
    q0, q1 : array_like, shape (..., nq)
        Configurations; leading axes broadcast.

    Returns
    -------
    ndarray, shape (..., nv)

    Raises
    ------
    ArgumentError
        As :func:`integrate`.
    """
    start, end = _checked("q0", q0, model.nq), _checked("q1", q1, model.nq)
    result = np.empty((*_batch(start, end), model.nv))
    for kind, at, v0, nq, nv in model.configuration_layout:
        result[..., v0 : v0 + nv] = _log(kind, start[..., at : at + nq], end[..., at : at + nq])
    return result


def _log(kind: str, start: Array, end: Array) -> Array:
    if kind == "euclidean":
        return end - start
    back = lie.conjugate(_normalised("q0", start[..., -4:]))
    phi = lie.log_quaternion(_unit(lie.quaternion_multiply(back, _normalised("q1", end[..., -4:]))))
    if kind == "spherical":
        return phi
    translation = lie.rotate(back, end[..., :3] - start[..., :3])
    phi, translation = np.broadcast_arrays(phi, translation)
    return np.concatenate([lie.inverse_left_jacobian_times(phi, translation), phi], axis=-1)


def _quaternion_slots(model: Model) -> list[slice]:
    return [slice(q0 + nq - 4, q0 + nq) for kind, q0, _, nq, _ in model.configuration_layout if kind != "euclidean"]


def _unit(quaternion: Array) -> Array:
    return np.asarray(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True), dtype=np.float64)


def _normalised(argument: str, quaternion: Array) -> Array:
    if not np.all(np.sum(quaternion * quaternion, axis=-1) > 0.0):
        raise ArgumentError(
            f"{argument} holds a quaternion of zero or undefined norm; use unit quaternions, as model.neutral() does"
        )
    return _unit(quaternion)


def _checked(argument: str, values: Any, width: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != width:
        raise ArgumentError(
            f"{argument} must have shape (..., {width}), got {array.shape}; the last axis is the coordinate"
        )
    return array


def _batch(a: Array, b: Array) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    except ValueError:
        raise ArgumentError(
            f"batch axes {a.shape[:-1]} and {b.shape[:-1]} do not broadcast; make them equal or 1"
        ) from None
