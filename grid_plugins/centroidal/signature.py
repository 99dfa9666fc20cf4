"""The arguments that the centroidal family shares."""

from __future__ import annotations

from grid_core.plugins.algorithm import Absent, Input

Q = Input(
    "q", ("nq",), "configuration (rad, m; floating base: position and unit quaternion xyzw)", tangent="configuration"
)
QD = Input("qd", ("nv",), "velocity along the tangent (rad/s, m/s; floating base: body-frame linear, then angular)")
QDD = Input("qdd", ("nv",), "acceleration, the time derivative of qd", absent=Absent.ZERO)
U = Input("u", ("nv",), "generalised force (N m, N)")
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
    "external wrench on each body, moment then force, in body axes about the body origin (N m, N)",
    absent=Absent.ZERO,
    keyword_only=True,
)
"""The wrenches cost too little here to be worth a second variant."""

MOMENTUM_MAP = ("6", "nv")
PARAMETERS = ("10*nb",)
"""Per body mass, first moment and the six entries xx xy xz yy yz zz of the inertia about the body origin."""
REGRESSOR = ("nv", "10*nb")
