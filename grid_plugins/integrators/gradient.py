"""The derivative of one step, from the derivatives of forward dynamics at its stages.

A single stage is the chain rule forwards. Several stages are differentiated backwards, see
:mod:`grid_plugins.integrators.backwards`.
"""

from __future__ import annotations

from functools import partial

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.manifold import integrate_jacobians
from grid_core.plugins.algorithm import Algorithm
from grid_core.trace.linalg import plus, scale
from grid_plugins.integrators.backwards import backwards
from grid_plugins.integrators.rows import Rows, identity, side_by_side, zeros
from grid_plugins.integrators.schemes import SCHEMES, Scheme
from grid_plugins.integrators.signature import AB, F_EXT_SHARED, STEP, choice
from grid_plugins.integrators.step import Stage, increment, stages_of


def emit_gradient(scheme: Scheme, k: KernelBuilder) -> None:
    n = k.model.nv
    if n == 0:
        k.output("ab", [])
        return
    if len(scheme.nodes) == 1:
        stages = list(stages_of(k, scheme))
        by_increment, by_rates = _single(k, scheme, stages[0])
    else:
        stages, by_increment, by_rates = backwards(k, scheme)
    with k.section("derivative of the configuration after the step"):
        by_q, by_d = integrate_jacobians(k.model, increment(k, scheme, stages))
        moved = by_d.before(by_increment)
        start = side_by_side(by_q.dense(), zeros(n, 2 * n))
        kept = side_by_side(zeros(n, n), identity(n), zeros(n, n))
        k.output("ab", [*map(plus, moved, start), *map(plus, by_rates, kept)])


def _single(k: KernelBuilder, scheme: Scheme, stage: Stage) -> tuple[Rows, Rows]:
    """Return the derivatives of ``W`` and of ``v_next - v`` along ``q, v, u`` for a scheme with one stage."""
    h, n = k.input("dt"), k.model.nv
    held = {name: k.input(name) for name in ("u", "gravity", "f_ext") if k.has(name)}
    by_state = k.call("forward_dynamics_gradient", q=stage.q, qd=stage.v, **held)
    acceleration = side_by_side(by_state, k.call("minv", q=stage.q))
    by_rates = [scale(row, h) for row in acceleration]
    velocity = side_by_side(zeros(n, n), identity(n, h), zeros(n, n))
    return [plus(v, scale(a, scheme.acceleration * h)) for v, a in zip(velocity, by_rates)], by_rates


def _algorithm(scheme: Scheme) -> Algorithm:
    needs = ("forward_dynamics_gradient",) if len(scheme.nodes) == 1 else ("inverse_dynamics_gradient",)
    return Algorithm(
        name=f"integrator_gradient_{scheme.name}",
        family="integrators",
        summary=f"Derivative of one step by {scheme.title}: [A | B] along the tangents.",
        inputs=(*STEP, F_EXT_SHARED),
        outputs=(AB,),
        emit=partial(emit_gradient, scheme),
        requires=("forward_dynamics", "minv", *needs),
        profiles=("integrators",),
        source="Griewank and Walther, Evaluating Derivatives, 2008; Sola, Deray and Atchuthan, A micro Lie theory for "
        "state estimation in robotics, 2018",
    )


ALGORITHMS = (
    *map(_algorithm, SCHEMES),
    Algorithm(
        name="integrator_gradient",
        family="integrators",
        summary="Derivative of one step along the tangents: [A | B] = d[q_next; qd_next] / d(q, qd, u).",
        inputs=(*STEP, F_EXT_SHARED),
        outputs=(AB,),
        choice=choice("integrator_gradient"),
        requires=tuple(f"integrator_gradient_{scheme.name}" for scheme in SCHEMES),
        profiles=("integrators",),
        notes="Rows are along the tangent at the state after the step, columns along that at the state before it. "
        "f_ext is constant in body axes.",
    ),
)
