"""Logarithmic barriers of positions, velocities and torques."""

from __future__ import annotations

import math

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.trace.functions import less, less_equal, log, maximum, minimum, select
from grid_core.trace.scalar import Real, Scalar
from grid_plugins.plant.terms import Term, Values

VALUE_FLOOR = 1e-10
"""Margins below this count as this much in the value."""

SLOPE_FLOOR = 1e-6
"""Margins nearer to zero than this count as this much in the derivatives, with their sign."""


def emit_barrier(k: KernelBuilder) -> None:
    term = barrier(k.input("var"), k.input("lower"), k.input("upper"), k.input("mu"))
    k.output("value", term.value)
    k.output("grad", term.slopes)
    k.output("hess_diag", term.curvatures)


def barrier(values: Values, lower: Values, upper: Values, mu: Real) -> Term:
    """Return the barriers of some values together."""
    total: Real = 0.0
    slopes, curvatures = [], []
    for x, low, high in zip(values, lower, upper, strict=True):
        below, slope_below = _side(x - low, less_equal(low, -math.inf))
        above, slope_above = _side(high - x, less_equal(math.inf, high))
        total = total + (below + above)
        slopes.append(mu * (slope_above - slope_below))
        curvatures.append(mu * (slope_below * slope_below + slope_above * slope_above))
    return Term(-(mu * total), tuple(slopes), tuple(curvatures))


def _side(margin: Real, absent: Scalar | bool) -> tuple[Real, Real]:
    """Return the logarithm of a margin and its slope; zeros for a bound that is infinite."""
    floored = select(less(margin, 0.0), minimum(margin, -SLOPE_FLOOR), maximum(margin, SLOPE_FLOOR))
    return select(absent, 0.0, log(maximum(margin, VALUE_FLOOR))), select(absent, 0.0, 1.0 / floored)


def _barrier(what: str, width: str, units: str) -> Algorithm:
    return Algorithm(
        name=f"joint_{what}_barrier",
        family="plant",
        summary=f"Logarithmic barrier of joint {what}s: -mu (log(x - lower) + log(upper - x)), summed.",
        inputs=(
            Input("var", (width,), f"{what} ({units})"),
            Input("lower", (width,), "lower bounds; minus infinity is none"),
            Input("upper", (width,), "upper bounds; infinity is none"),
            Input("mu", (), "weight of the barrier, one number or one per sample"),
        ),
        outputs=(
            Output("value", (), "barrier"),
            Output("grad", (width,), "derivative along each variable"),
            Output("hess_diag", (width,), "diagonal of the second derivative, which has no other entries"),
        ),
        emit=emit_barrier,
        profiles=("plant",),
        notes=f"Margins are at least {VALUE_FLOOR:g} in the value, and at least {SLOPE_FLOOR:g} in size in the "
        "derivatives, where they keep their sign.",
    )


ALGORITHMS = (
    _barrier("position", "nq", "rad, m"),
    _barrier("velocity", "nv", "rad/s, m/s"),
    _barrier("torque", "nv", "N m, N"),
)
