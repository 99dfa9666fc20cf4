"""What the inertial parameters of a rigid body can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from grid_core.model.placement import Array

MOMENT_TOLERANCE = 1e-6
"""Relative slack of the triangle inequality: what rounding of printed digits explains."""
NOISE_RADIUS = 1e-6
"""Moments within mass times this radius (m) squared of a rule are noise of an exporter's arithmetic."""

TRIANGLE = "break the triangle inequality (largest <= sum of others)"


class UnphysicalInertiaWarning(UserWarning):
    """Inertial parameters that no rigid body has are used as they were given."""


def beyond_triangle(inertia: ArrayLike, slack: float) -> tuple[float, float, float] | None:
    """Return the principal moments of an inertia about the centre of mass if they break the triangle inequality.

    Negative moments break it, too.
    """
    low, middle, high = np.linalg.eigvalsh(np.asarray(inertia)).tolist()
    return (low, middle, high) if high > low + middle + MOMENT_TOLERANCE * high + slack else None


def broken_rule(parameters: Array) -> str | None:
    """Return the rule that inertial parameters break, ``None`` if there is a rigid body that has them.

    Parameters
    ----------
    parameters : ndarray, shape (10,)
        ``[m, h, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``, first moment and inertia about the body's origin.
    """
    mass, moment = float(parameters[0]), parameters[1:4]
    if mass < 0.0:
        return f"its mass is {mass:g} kg, which must not be negative"
    if mass == 0.0 and moment.any():
        return "it has a first moment without a mass"
    about_origin = parameters[[4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(3, 3)
    carried = (moment @ moment * np.eye(3) - np.outer(moment, moment)) / (mass or 1.0)
    slack = MOMENT_TOLERANCE * float(np.abs(about_origin).max()) + NOISE_RADIUS**2 * mass
    moments = beyond_triangle(about_origin - carried, slack)
    if moments is None:
        return None
    shown = ", ".join(f"{value:.6g}" for value in moments)
    return f"its principal moments about the centre of mass, {shown} kg m^2, {TRIANGLE}"
