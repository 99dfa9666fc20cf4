"""Defects between predicted and chosen states, composed on the manifold, for shooting and collocation.

With a step ``y = F(x, u)``, its derivative ``G = [A | B]`` and a chosen successor ``s``, the defect is a difference of
states, ``D(y, s) = [difference(q_y, q_s); qd_s - qd_y]`` or ``D(s, y)``. Its derivatives are compositions with those of
the difference, which are not plus and minus one where rotations differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Normalised:
    """A linear constraint ``ds = [A | B] dz - value``, with the matrix that it was divided by.

    Attributes
    ----------
    ab : ndarray, shape (..., 2 nv, 3 nv)
    value : ndarray, shape (..., 2 nv)
    by_successor : ndarray, shape (..., 2 nv, 2 nv)
    """

    ab: Array
    value: Array
    by_successor: Array

    def multiplier(self, mu: ArrayLike) -> Array:
        """Return the multiplier of the defect itself that stands for one of this constraint, shape (..., 2 nv)."""
        transposed = np.swapaxes(self.by_successor, -1, -2)
        return np.asarray(np.linalg.solve(transposed, np.asarray(mu)[..., None])[..., 0])


@dataclass(frozen=True)
class Defect:
    """A defect and its derivatives.

    Attributes
    ----------
    value : ndarray, shape (..., 2 nv)
        The defect, ``[tangent; velocity]``.
    by_input : ndarray, shape (..., 2 nv, 3 nv)
        Derivative along ``[dq | dqd | du]`` of the step that predicted.
    by_successor : ndarray, shape (..., 2 nv, 2 nv)
        Derivative along ``[dq | dqd]`` of the chosen successor.
    """

    value: Array
    by_input: Array
    by_successor: Array

    def normalised(self) -> Normalised:
        """Return the linear constraint solved for the successor.

        Of ``by_input dz + by_successor ds + value = 0`` it is ``ds = [A | B] dz - value'``. This changes neither the
        defect nor its merit function; multipliers change, see :meth:`Normalised.multiplier`.
        """
        ab = -np.linalg.solve(self.by_successor, self.by_input)
        value = np.linalg.solve(self.by_successor, self.value[..., None])[..., 0]
        return Normalised(ab, value, self.by_successor)


def defect_from_prediction(robot: Any, predicted: ArrayLike, successor: ArrayLike, ab: ArrayLike) -> Defect:
    """Return the defect ``D(y, s)``, a tangent at the predicted state ``y``.

    Parameters
    ----------
    robot : RobotHandle
        With ``configuration_difference`` and ``configuration_difference_jacobians``.
    predicted, successor : array_like, shape (..., nq + nv)
        States ``[q; qd]``: what the step leads to, and what was chosen.
    ab : array_like, shape (..., 2 nv, 3 nv)
        Derivative of the step, as ``plant_step_gradient`` returns it.
    """
    value, by_first, by_second = _difference(robot, np.asarray(predicted), np.asarray(successor))
    return Defect(value, by_first @ np.asarray(ab), by_second)


def defect_from_successor(robot: Any, predicted: ArrayLike, successor: ArrayLike, ab: ArrayLike) -> Defect:
    """Return the defect ``D(s, y)``, a tangent at the chosen state ``s``; arguments as for the other one."""
    value, by_first, by_second = _difference(robot, np.asarray(successor), np.asarray(predicted))
    return Defect(value, by_second @ np.asarray(ab), by_first)


def _difference(robot: Any, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Return the difference of states and its derivatives along both."""
    nq = robot.nq
    moved = robot.configuration_difference(start[..., :nq], end[..., :nq])
    by_start, by_end = robot.configuration_difference_jacobians(start[..., :nq], end[..., :nq])
    value = np.concatenate([moved, end[..., nq:] - start[..., nq:]], axis=-1)
    return value, _of_states(by_start, -1.0), _of_states(by_end, 1.0)


def _of_states(by_configuration: Array, by_velocity: float) -> Array:
    """Return a block diagonal matrix: a derivative along configurations, and a number times one along velocities."""
    n = by_configuration.shape[-1]
    whole = np.zeros((*by_configuration.shape[:-2], 2 * n, 2 * n), by_configuration.dtype)
    whole[..., :n, :n] = by_configuration
    whole[..., n:, n:] = by_velocity * np.eye(n)
    return whole
