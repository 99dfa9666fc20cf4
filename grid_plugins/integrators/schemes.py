"""The integration schemes: one table, from which values, gradients and names follow.

A step leads from ``(q, v)`` to ``(q (+) W, v + h sum_i b_i a_i)`` with the increment ``W = h sum_i b_i k_i``. Stage
``i`` starts at the base point again: ``q_i = q (+) w_i`` with ``w_i = c_i h k_(i-1)``, ``v_i = v + c_i h a_(i-1)`` and
``a_i = FD(q_i, v_i, u)``. The rate ``k_i`` is ``v_i``; with the correction for Lie groups it is what makes ``q (+)
w(t)`` follow ``v_i`` at ``w_i``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """One explicit scheme.

    Attributes
    ----------
    name : str
        Its value of ``integrator_type``.
    title : str
        For documentation.
    order : int
        Order of convergence on vector spaces.
    nodes : tuple of float
        ``c``: each stage starts from the one before it; the first is the beginning of the step.
    weights : tuple of float
        ``b``, of the stages' rates and accelerations.
    acceleration : float
        Of a single stage: ``W`` has ``acceleration h^2 a`` beside ``h v``.
    on_group : bool
        Whether rates are corrected for the curvature of rotations, which keeps the order on them.
    """

    name: str
    title: str
    order: int
    nodes: tuple[float, ...] = (0.0,)
    weights: tuple[float, ...] = (1.0,)
    acceleration: float = 0.0
    on_group: bool = False


RK4 = ((0.0, 0.5, 0.5, 1.0), (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0))

SCHEMES = (
    Scheme("euler", "explicit Euler: position by the old velocity", 1),
    Scheme("semi_implicit_euler", "semi-implicit Euler: position by the new velocity", 1, acceleration=1.0),
    Scheme("midpoint", "the explicit midpoint rule", 2, (0.0, 0.5), (0.0, 1.0)),
    Scheme("rk4", "the classical Runge-Kutta method, of order 2 on rotations", 4, *RK4),
    Scheme("trapezoidal", "Heun's method, the explicit trapezoidal rule", 2, (0.0, 1.0), (0.5, 0.5)),
    Scheme("constant_acceleration", "position by a constant acceleration", 1, acceleration=0.5),
    Scheme("rk4_mk", "the classical method by Munthe-Kaas, of order 4 on rotations too", 4, *RK4, on_group=True),
)

TYPES = {scheme.name: scheme for scheme in SCHEMES}
