"""Activations: what a residual costs, entry by entry. They are chosen by number while a kernel runs.

Quadratic and pseudo-Huber are one formula. With ``z`` the residual, ``s = sqrt(z^2 + e^2)`` and a weight ``w``

    a = w z^2 / (s + e),    a' = w z / s,    a'' = w e^2 / s^3

is ``w (s - e)``, without the difference of nearly equal numbers; where ``s = e = 1`` are put instead it is ``w z^2 /
2``. The quadratic barrier and the smooth hinge are the same of the amount by which a value is out of its bounds, with a
curvature of zero inside. What is left is the relaxed logarithmic barrier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grid_core.errors import ArgumentError, nearest
from grid_core.plugins.robot_view import RobotView
from grid_core.trace.functions import equal, less, less_equal, log, maximum, minimum, select, sqrt
from grid_core.trace.linalg import Vector
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.plant.terms import Term, Values

KINDS = ("quadratic", "pseudo_huber", "relaxed_log_barrier", "quadratic_barrier", "smooth_hinge")
"""Names; the position is the number."""

NONE = -1
"""The number of ``"none"``, which costs nothing."""

NUMBERS = range(NONE, len(KINDS))

LEAST_EPS = 1e-18
"""Scales below this count as this much: their squares are numbers in single precision, too."""


@dataclass(frozen=True)
class Bounded:
    """A value and its bounds; infinite ones are none."""

    value: Real
    lower: Real
    upper: Real


class Activation:
    """The activation of one term.

    Parameters
    ----------
    number : Real
        Its number, see :data:`KINDS`; with any other the term costs nothing.
    eps : Real
        Scale of ``pseudo_huber`` and ``smooth_hinge``, relaxation of the logarithm.
    """

    def __init__(self, number: Real = 0.0, eps: Real = 1.0) -> None:
        self._number = number
        self._eps = maximum(eps, LEAST_EPS)
        self._of_residual = self._among("quadratic", "pseudo_huber")
        self._of_violation = self._among("quadratic_barrier", "smooth_hinge")
        self._smooth = self._among("pseudo_huber", "smooth_hinge")

    def _among(self, *kinds: str) -> Scalar | bool:
        """Return whether it is one of some kinds."""
        found: Real = 0.0
        for kind in kinds:
            found = select(equal(self._number, float(KINDS.index(kind))), 1.0, found)
        return less(0.0, found)

    def of(self, residual: Values, weights: Values, bounds: Sequence[Bounded | None] = ()) -> Term:
        """Return what a residual costs; entries without bounds cost nothing under a barrier."""
        entries = [
            self._free(r, w) if bounded is None else self._bounded(r, w, bounded)
            for r, w, bounded in zip(residual, weights, bounds or [None] * len(residual), strict=True)
        ]
        values, slopes, curvatures = zip(*entries) if entries else ((), (), ())
        return Term(sum(values, 0.0), slopes, curvatures)

    def _free(self, residual: Real, weight: Real) -> Vector:
        """Return value, slope and curvature of an entry without bounds."""
        z, gate = self._gated(residual)
        return self._smoothed(z, gate, weight)

    def _bounded(self, residual: Real, weight: Real, bounded: Bounded) -> Vector:
        """Return value, slope and curvature of an entry with bounds."""
        above, below = maximum(bounded.value - bounded.upper, 0.0), maximum(bounded.lower - bounded.value, 0.0)
        outside = select(less(0.0, maximum(above, below)), 1.0, 0.0)
        z, gate = (select(self._of_violation, x, y) for x, y in zip((above - below, outside), self._gated(residual)))
        relaxed = self._relaxed(weight, bounded.value - bounded.lower, bounded.upper - bounded.value)
        others = self._smoothed(z, gate, weight)
        return tuple(select(self._among("relaxed_log_barrier"), x, y) for x, y in zip(relaxed, others))

    def _gated(self, residual: Real) -> tuple[Real, Real]:
        """Return the residual if it is what costs, and one then; else zeros."""
        return select(self._of_residual, residual, 0.0), select(self._of_residual, 1.0, 0.0)

    def _smoothed(self, z: Real, gate: Real, weight: Real) -> Vector:
        e = select(self._smooth, self._eps, 1.0)
        s = select(self._smooth, sqrt(z * z + e * e), 1.0)
        inverse = 1.0 / s
        slope, bend = weight * z * inverse, e * inverse
        return weight * z * (z / (s + e)), slope, gate * (weight * inverse * (bend * bend))

    def _relaxed(self, weight: Real, *margins: Real) -> Vector:
        """Return the logarithmic barrier of some margins, and below the relaxation the parabola that continues it.

        With ``t = min(z / delta - 1, 0)`` and ``m = max(z, delta)`` the barrier of a margin ``z`` is
        ``-log m + t^2 / 2 - t``, its slope ``(t - 1) / m`` and its curvature ``1 / m^2`` (Grandia et al., Feedback MPC
        for torque-controlled legged robots, 2019).
        """
        value: Real = 0.0
        slope: Real = 0.0
        curvature: Real = 0.0
        per_eps = 1.0 / self._eps
        for sign, margin in zip((1.0, -1.0), margins, strict=True):
            absent = less_equal(math.inf, margin)
            m = maximum(margin, self._eps)
            t = minimum(margin - self._eps, 0.0) * per_eps
            inverse = 1.0 / m
            value = value + (t * (0.5 * t - 1.0) - log(select(absent, 1.0, m)))
            slope = slope + sign * ((t - 1.0) * inverse)
            curvature = curvature + inverse * inverse
        return weight * value, weight * slope, weight * curvature


def number_of(name: Any) -> float:
    """Return the number of an activation that is given by its name or number.

    Raises
    ------
    ArgumentError
        There is no such activation.
    """
    if isinstance(name, str):
        if name == "none":
            return float(NONE)
        if name in KINDS:
            return float(KINDS.index(name))
    elif isinstance(name, (int, float, np.number)) and not isinstance(name, bool) and name in NUMBERS:
        return float(name)
    listed = ", ".join(f"{kind!r} ({number})" for number, kind in enumerate(KINDS))
    raise ArgumentError(f"activation is {name!r}{nearest(str(name), KINDS)}; expected 'none' ({NONE}), {listed}")


def read_activation(robot: RobotView, given: Mapping[str, Any]) -> Any:  # noqa: ARG001
    """Return the number of an activation, or an array of numbers from one of names."""
    return numbers_of(given["activation"])


def numbers_of(names: Any) -> Any:
    """Return the numbers of one activation, or of an array of them; quadratic if there is none."""
    if names is None:
        return 0.0
    array = np.asarray(names, object)
    return np.array([number_of(name) for name in array.flat]).reshape(array.shape)
