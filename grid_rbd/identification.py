"""Which combinations of inertial parameters show in a robot's motion: its base parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grid_backends.numpy import RobotHandle
from grid_core.errors import ArgumentError
from grid_core.kernel import evaluate, trace_algorithm
from grid_core.model import Model
from grid_core.plugins.manager import load_catalogue

Array = NDArray[np.float64]

REGRESSOR = "inverse_dynamics_regressor"
RELATIVE_RANK = 1e-9
"""A column of which less than this is independent of the others, relative to the largest one, counts as dependent:
rounding leaves 1e-13, what a robot's geometry leaves is far above."""


@dataclass(frozen=True)
class BaseParameters:
    """The identifiable combinations of a robot's inertial parameters ``pi`` (ten per body, see ``inertia_params``).

    For every motion ``tau = Y pi = Y[:, selection] (combination pi)``, and no column of ``Y[:, selection]`` can be left
    out: joint forces tell the numbers ``combination pi`` and nothing else about ``pi``.

    Attributes
    ----------
    selection : ndarray (r,)
        Columns of the regressor that are independent, ascending. Parameter ``p`` of body ``b`` is column ``10 b + p``.
    combination : ndarray (r, 10 nb)
        What each independent column stands for: itself once, and its share in columns that depend on it.
    """

    selection: NDArray[np.intp]
    combination: Array

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.selection)


def base_parameters(
    robot: RobotHandle | Model, *, gravity: float | Sequence[float] = -9.81, seed: int = 0
) -> BaseParameters:
    """Return the base parameters of a robot, those of inverse dynamics without joint friction.

    The regressor is evaluated at random motions, enough for full rank with certainty, and factorised by QR with column
    pivoting. Nothing is compiled. The geometry is that of the description.

    Parameters
    ----------
    robot : RobotHandle or Model
    gravity : float or sequence of 3 floats
        In world axes (m/s^2), a number along z: with a fixed base it matters which way it points.
    seed : int
        Of the motions; another one may select other columns that say the same.

    Returns
    -------
    BaseParameters

    Raises
    ------
    ArgumentError
        The robot is neither a handle nor a model, or gravity is neither a number nor three of them.

    Notes
    -----
    Gautier, Numerical calculation of the base inertial parameters of robots, 1991.
    """
    model = robot.model if isinstance(robot, RobotHandle) else robot
    if not isinstance(model, Model):
        raise ArgumentError(
            f"base_parameters: robot is {robot!r:.80}, expected a handle, as load_robot returns it, or its model"
        )
    stack = _stack(model, _gravity(gravity), seed)
    return _selected(*_pivoted(np.asarray(np.linalg.qr(stack, mode="r"))))


def _gravity(gravity: float | Sequence[float]) -> Array:
    given = np.asarray(gravity, np.float64)
    if given.shape not in ((), (3,)):
        raise ArgumentError(f"base_parameters: gravity has shape {given.shape}, expected a number or 3 of them")
    return np.array([0.0, 0.0, float(given)]) if given.ndim == 0 else given


def _stack(model: Model, gravity: Array, seed: int) -> Array:
    """Return regressors at random motions below each other, at least twice as many rows as columns."""
    algorithms = load_catalogue().algorithms
    kernel = trace_algorithm(algorithms[REGRESSOR], model, algorithms)
    count, generator = -(-20 * model.nb // model.nv) + 10, np.random.default_rng(seed)
    motions = {
        "q": model.random(seed, count),
        "qd": generator.normal(size=(count, model.nv)),
        "qdd": 3.0 * generator.normal(size=(count, model.nv)),
        "gravity": np.tile(gravity, (count, 1)),
    }
    return evaluate(kernel, motions)["regressor"].reshape(-1, 10 * model.nb)


def _pivoted(r: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the factor and the order of columns of a QR factorisation with pivoting (Householder; Golub, Van Loan)."""
    r = np.array(r)
    order = np.arange(r.shape[1])
    least = RELATIVE_RANK * float(np.linalg.norm(r, axis=0).max())
    for k in range(min(r.shape)):
        left = np.linalg.norm(r[k:, k:], axis=0)
        pivot = k + int(np.argmax(left))
        if left.max() <= least:
            return r[:k], order
        r[:, [k, pivot]], order[[k, pivot]] = r[:, [pivot, k]], order[[pivot, k]]
        mirror = r[k:, k].copy()
        mirror[0] += np.copysign(np.linalg.norm(mirror), mirror[0])
        mirror /= np.linalg.norm(mirror)
        r[k:, k:] -= 2.0 * np.outer(mirror, mirror @ r[k:, k:])
    return r[: min(r.shape)], order


def _selected(r: Array, order: NDArray[np.intp]) -> BaseParameters:
    """Return what the leading columns of a factor stand for."""
    rank = len(r)
    shares = np.linalg.solve(r[:, :rank], r[:, rank:])
    shares[np.abs(shares) < RELATIVE_RANK] = 0.0
    combination = np.zeros((rank, r.shape[1]))
    combination[:, order[:rank]] = np.eye(rank)
    combination[:, order[rank:]] = shares
    ascending = np.argsort(order[:rank])
    return BaseParameters(order[:rank][ascending], combination[ascending])
