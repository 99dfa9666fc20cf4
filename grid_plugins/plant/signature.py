"""The arguments that the plant family shares."""

from __future__ import annotations

from grid_core.plugins.algorithm import Absent, Input, Output

Q = Input(
    "q", ("nq",), "configuration (rad, m; floating base: position and unit quaternion xyzw)", tangent="configuration"
)
QD = Input("qd", ("nv",), "velocity along the tangent (rad/s, m/s; floating base: body-frame linear, then angular)")
X = Input("x", ("nx",), "state [q; qd]")
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
    "external wrench on each body, moment then force, in body axes about the body origin, constant there (N m, N)",
    absent=Absent.ZERO,
    keyword_only=True,
)

NEXT = Output("x_next", ("nx",), "state after the step, [q; qd]")
AB = Output("ab", ("2*nv", "3*nv"), "[A | B]: rows [dq_next; dqd_next], columns [dq | dqd | du]")

HESSIAN = Output(
    "hess", ("2*nv", "3*nv", "3*nv"), "[o, a, b]: change of [A | B][o, b] along direction a of [dq | dqd | du]"
)

P_DES = Input("p_des", ("3",), "position to be at, in the world (m)")
X_DES = Input("x_des", ("nx",), "state to be at")
R_DES = Input("R_des", ("3", "3"), "rotation to have, from the frame to the world")
V_DES = Input("v_des", ("6",), "velocity to have at the frame's origin, linear and angular, world axes (m/s, rad/s)")
U_DES = Input("u_des", ("nv",), "input to have (N m, N)")


def weights(name: str, width: str, of: str) -> Input:
    """Return the weights of a residual, which are not negative."""
    return Input(name, (width,), f"weight of each entry of {of}")


W3 = weights("W", "3", "the position")
