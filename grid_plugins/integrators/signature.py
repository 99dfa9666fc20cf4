"""The arguments that the integrators share."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.plugins.algorithm import Absent, Choice, Input, Output
from grid_plugins.integrators.schemes import SCHEMES, Scheme

Q = Input(
    "q", ("nq",), "configuration (rad, m; floating base: position and unit quaternion xyzw)", tangent="configuration"
)
QD = Input("qd", ("nv",), "velocity along the tangent (rad/s, m/s; floating base: body-frame linear, then angular)")
U = Input("u", ("nv",), "generalised force, constant during the step (N m, N)")
DT = Input("dt", (), "duration of the step (s), one number or one per sample", typical=0.01)
GRAVITY = Input(
    "gravity",
    ("3",),
    "gravitational acceleration in world axes (m/s^2); a number is taken along world z",
    default=-9.81,
    keyword_only=True,
    scalar_slot=2,
)
F_EXT = Input(
    "f_ext",
    ("6*nb",),
    "external wrench on each body, moment then force, in body axes about the body origin, constant there during the "
    "step (N m, N)",
    absent=Absent.VARIANT,
    keyword_only=True,
)
F_EXT_SHARED = Input(F_EXT.name, F_EXT.shape, F_EXT.doc, absent=Absent.ZERO, keyword_only=True)
"""For kernels in which the wrenches cost too little to be worth a second variant."""

NEXT = Output("x_next", ("nx",), "state after the step, [q; qd]")
AB = Output("ab", ("2*nv", "3*nv"), "[A | B]: rows [dq_next; dqd_next], columns [dq | dqd | du]")

HESSIAN = Output(
    "hess", ("2*nv", "3*nv", "3*nv"), "[o, a, b]: change of [A | B][o, b] along direction a of [dq | dqd | du]"
)

STEP = (Q, QD, U, DT, GRAVITY)


def choice(prefix: str, schemes: Sequence[Scheme] = SCHEMES) -> Choice:
    """Return the keyword that picks the scheme, for algorithms ``<prefix>_<scheme>``."""
    return Choice("integrator_type", "euler", {s.name: f"{prefix}_{s.name}" for s in schemes}, "Scheme of integration")
