"""The plant of trajectory optimisation: the integrators with the state in one vector."""

from __future__ import annotations

from grid_core.plugins.algorithm import Algorithm, Choice
from grid_plugins.plant.signature import AB, DT, F_EXT, GRAVITY, HESSIAN, NEXT, U, X

TYPES = (
    "euler",
    "semi_implicit_euler",
    "midpoint",
    "rk4",
    "trapezoidal",
    "constant_acceleration",
    "rk4_mk",
)
STATE = {"x": ("q", "qd")}


def choice(prefix: str, types: tuple[str, ...] = TYPES) -> Choice:
    """Return the keyword that picks the scheme."""
    algorithms = {name: f"{prefix}_{name}" for name in types}
    return Choice("integrator_type", "euler", algorithms, "Scheme of integration", STATE)


ALGORITHMS = (
    Algorithm(
        name="plant_step",
        family="plant",
        summary="One step in time of the state x = [q; qd].",
        inputs=(X, U, DT, GRAVITY, F_EXT),
        outputs=(NEXT,),
        choice=choice("integrator"),
        requires=tuple(f"integrator_{name}" for name in TYPES),
        profiles=("plant",),
        notes="The integrator with q and qd in one vector; no unit of its own.",
    ),
    Algorithm(
        name="plant_step_gradient",
        family="plant",
        summary="Derivative of plant_step along the tangents: [A | B].",
        inputs=(X, U, DT, GRAVITY, F_EXT),
        outputs=(AB,),
        choice=choice("integrator_gradient"),
        requires=tuple(f"integrator_gradient_{name}" for name in TYPES),
        profiles=("plant",),
        notes="The integrator_gradient with q and qd in one vector; no unit of its own.",
    ),
    Algorithm(
        name="plant_step_hessian",
        family="plant",
        summary="Change of plant_step_gradient along every direction [dq | dqd | du].",
        inputs=(X, U, DT, GRAVITY, F_EXT),
        outputs=(HESSIAN,),
        choice=choice("integrator_hessian", TYPES[:-1]),
        requires=tuple(f"integrator_hessian_{name}" for name in TYPES[:-1]),
        profiles=("step-hessians",),
        opt_in=True,
        notes="The integrator_hessian with q and qd in one vector; no unit of its own. hess[o, a, b] is the derivative "
        "of [A | B][o, b] along direction a, each taken in the tangents at its own states; on rotations it is not "
        "symmetric in a and b.",
    ),
)
