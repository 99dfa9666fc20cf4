"""One step in time: stages of forward dynamics and retractions, in one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.manifold import integrate, rotational_blocks
from grid_core.plugins.algorithm import Algorithm
from grid_core.trace.lie import adjoint
from grid_core.trace.linalg import plus, scale
from grid_core.trace.scalar import Real
from grid_plugins.integrators.schemes import SCHEMES, Scheme
from grid_plugins.integrators.signature import F_EXT, NEXT, STEP, choice

Values = Sequence[Real]


@dataclass(frozen=True)
class Stage:
    """One evaluation of forward dynamics.

    Attributes
    ----------
    w : sequence of Real
        Increment of the configuration since the beginning of the step, along the tangent there.
    q, v, a : sequence of Real
        Configuration, velocity and acceleration.
    rate : sequence of Real
        ``k``, the rate of ``w``.
    """

    w: Values
    q: Values
    v: Values
    a: Values
    rate: Values


def stages_of(k: KernelBuilder, scheme: Scheme) -> Iterator[Stage]:
    """Trace the stages of a step from the inputs of an algorithm, one after the other."""
    q, v, h = k.input("q"), k.input("qd"), k.input("dt")
    held = {name: k.input(name) for name in ("u", "gravity", "f_ext") if k.has(name)}
    last: Stage | None = None
    for number, c in enumerate(scheme.nodes):
        with k.section(f"stage {number + 1}"):
            if last is None:
                last = Stage((0.0,) * k.model.nv, q, v, k.call("forward_dynamics", q=q, qd=v, **held), v)
            else:
                w = scale(tuple(last.rate), c * h)
                at, rate = integrate(k.model, q, w), plus(tuple(v), scale(tuple(last.a), c * h))
                a = k.call("forward_dynamics", q=at, qd=rate, **held)
                last = Stage(w, at, rate, a, _corrected(k, w, rate) if scheme.on_group else rate)
        yield last


def _corrected(k: KernelBuilder, w: Values, v: Values) -> Values:
    """Return the rate of ``w`` for which ``q (+) w(t)`` moves with ``v``: ``v + [w, v] / 2 + [w, [w, v]] / 12``.

    The inverse of the right Jacobian, cut after the terms that a method of order four needs: Munthe-Kaas, "High order
    Runge-Kutta methods on manifolds" (1999).
    """
    result = list(v)
    for first, width in rotational_blocks(k.model):
        span = slice(first, first + width)
        once = adjoint(w[span], v[span])
        twice = adjoint(w[span], once)
        result[span] = plus(tuple(v[span]), plus(scale(once, 0.5), scale(twice, 1.0 / 12.0)))
    return result


def increment(k: KernelBuilder, scheme: Scheme, stages: Sequence[Stage]) -> Values:
    """Return ``W``, the whole step along the tangent at its beginning."""
    h = k.input("dt")
    total = scale(weighted(scheme, stages, lambda stage: stage.rate), h)
    return plus(total, scale(tuple(stages[0].a), scheme.acceleration * h * h)) if scheme.acceleration else total


def weighted(scheme: Scheme, stages: Sequence[Stage], of: Callable[[Stage], Values]) -> tuple[Real, ...]:
    """Return the weighted sum of something of all stages; stages of equal weight are added first."""
    total: tuple[Real, ...] = (0.0,) * len(of(stages[0]))
    for weight in dict.fromkeys(scheme.weights):
        alike = [of(stage) for stage, b in zip(stages, scheme.weights) if b == weight]
        total = plus(total, scale(tuple(map(sum, zip(*alike))), weight))
    return total


def emit_step(scheme: Scheme, k: KernelBuilder) -> None:
    stages = list(stages_of(k, scheme))
    with k.section("state after the step"):
        q = integrate(k.model, k.input("q"), increment(k, scheme, stages))
        change = scale(weighted(scheme, stages, lambda stage: stage.a), k.input("dt"))
        k.output("x_next", [*q, *plus(tuple(k.input("qd")), change)])


def _algorithm(scheme: Scheme) -> Algorithm:
    return Algorithm(
        name=f"integrator_{scheme.name}",
        family="integrators",
        summary=f"One step in time by {scheme.title}.",
        inputs=(*STEP, F_EXT),
        outputs=(NEXT,),
        emit=partial(emit_step, scheme),
        requires=("forward_dynamics",),
        profiles=("integrators",),
        source="Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 1993; Munthe-Kaas, High order "
        "Runge-Kutta methods on manifolds, 1999",
    )


ALGORITHMS = (
    *map(_algorithm, SCHEMES),
    Algorithm(
        name="integrator",
        family="integrators",
        summary="One step in time, (q, qd) to [q_next; qd_next].",
        inputs=(*STEP, F_EXT),
        outputs=(NEXT,),
        choice=choice("integrator"),
        requires=tuple(f"integrator_{scheme.name}" for scheme in SCHEMES),
        profiles=("integrators",),
        notes="Every stage starts from the configuration at the beginning of the step, and the result is retracted "
        "from there. Joint dynamics are part of the acceleration. On rotations this limits every scheme but 'rk4_mk' "
        "to order 2. 'trapezoidal' is Heun's explicit method.",
    ),
)
