"""Steps in time by their textbook formulas, and derivatives of maps between states by differences on the manifold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grid_core.model import Model
from tests.oracle.derivatives import STENCIL
from tests.oracle.evaluation import Array, Inputs, Reference

Accelerate = Callable[[Array, Array], Array]
"""``accelerate(q, qd)``, for a batch."""


def textbook_step(model: Model, name: str, accelerate: Accelerate, q: Array, v: Array, dt: Array) -> Array:
    """Return ``[q_next; v_next]``; ``dt`` has shape (B, 1)."""
    a = accelerate(q, v)
    if name == "euler":
        return state(model.integrate(q, dt * v), v + dt * a)
    if name == "semi_implicit_euler":
        return state(model.integrate(q, dt * (v + dt * a)), v + dt * a)
    if name == "constant_acceleration":
        return state(model.integrate(q, dt * v + 0.5 * dt**2 * a), v + dt * a)
    if name == "midpoint":
        middle = v + 0.5 * dt * a
        late = accelerate(model.integrate(q, 0.5 * dt * v), middle)
        return state(model.integrate(q, dt * middle), v + dt * late)
    if name == "trapezoidal":
        end = v + dt * a
        late = accelerate(model.integrate(q, dt * v), end)
        return state(model.integrate(q, 0.5 * dt * (v + end)), v + 0.5 * dt * (a + late))
    v2 = v + 0.5 * dt * a
    a2 = accelerate(model.integrate(q, 0.5 * dt * v), v2)
    v3 = v + 0.5 * dt * a2
    a3 = accelerate(model.integrate(q, 0.5 * dt * v2), v3)
    v4 = v + dt * a3
    a4 = accelerate(model.integrate(q, dt * v3), v4)
    moved = model.integrate(q, dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
    return state(moved, v + dt / 6.0 * (a + 2.0 * a2 + 2.0 * a3 + a4))


def state(q: Array, v: Array) -> Array:
    return np.concatenate([q, v], axis=-1)


def state_difference(model: Model, start: Array, end: Array) -> Array:
    """Return the tangent between states, shape (..., 2 nv)."""
    moved = model.difference(start[..., : model.nq], end[..., : model.nq])
    return state(moved, end[..., model.nq :] - start[..., model.nq :])


def moved_inputs(model: Model, inputs: Inputs, step: float) -> Inputs:
    """Return the inputs moved along every direction of ``[dq | dqd | du]`` by every multiple of a stencil, flat."""
    batch, n, steps = len(inputs["q"]), model.nv, len(STENCIL)
    moves = step * np.array(list(STENCIL))[:, None, None, None] * np.eye(3 * n)[:, None, :]
    moved = {key: np.broadcast_to(value, (steps, 3 * n, *value.shape)) for key, value in inputs.items()}
    moved |= {
        "q": model.integrate(inputs["q"], moves[..., :n]),
        "qd": inputs["qd"] + moves[..., n : 2 * n],
        "u": inputs["u"] + moves[..., 2 * n :],
    }
    return {key: value.reshape(steps * 3 * n * batch, -1) for key, value in moved.items()}


def differentiate(values: Array, directions: int, step: float) -> Array:
    """Return the derivatives of values at :func:`moved_inputs`, shape (B, size, directions)."""
    weights = np.array(list(STENCIL.values())) / (60.0 * step)
    stacked = values.reshape(len(STENCIL), directions, -1, int(np.prod(values.shape[1:])))
    return np.einsum("s,sdbi->bid", weights, stacked)


def step_gradient(function: Callable[..., Array], model: Model, inputs: Inputs, step: float = 1e-3) -> Array:
    """Return ``[A | B]`` of a step by differences: tangents at the input and at the nominal output."""
    nominal = function(**inputs)
    values = function(**moved_inputs(model, inputs, step))
    anchors = np.tile(nominal, (len(values) // len(nominal), 1))
    return differentiate(state_difference(model, anchors, values), 3 * model.nv, step)


def derivative_along_state(robot: Reference, name: str, output: str, inputs: Inputs, step: float = 1e-3) -> Array:
    """Return the derivative of an output along the tangent of the state ``x``, or ``q`` and ``qd``, (B, size, 2 nv)."""
    model, batch = robot.model, len(next(iter(inputs.values())))
    n, nq = model.nv, model.nq
    moves = np.repeat(step * np.array(list(STENCIL))[:, None, None] * np.eye(2 * n), batch, axis=1).reshape(-1, 2 * n)
    given = {key: np.concatenate([value] * (len(moves) // batch)) for key, value in inputs.items()}
    if "x" in given:
        given["x"] = state(model.integrate(given["x"][:, :nq], moves[:, :n]), given["x"][:, nq:] + moves[:, n:])
    else:
        given["q"] = model.integrate(given["q"], moves[:, :n])
    if "qd" in given:
        given["qd"] = given["qd"] + moves[:, n:]
    return differentiate(robot(name, **given)[output], 2 * n, step)
