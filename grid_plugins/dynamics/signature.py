"""The arguments that the dynamics family shares."""

from __future__ import annotations

from dataclasses import replace

from grid_core.plugins.algorithm import Absent, Input, Output

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
UNUSED_GRAVITY = replace(GRAVITY, doc="has no influence; accepted so that methods of dynamics are called alike")
F_EXT = Input(
    "f_ext",
    ("6*nb",),
    "external wrench on each body, moment then force, in body axes about the body origin (N m, N)",
    absent=Absent.VARIANT,
    keyword_only=True,
)
F_EXT_SHARED = Input(F_EXT.name, F_EXT.shape, F_EXT.doc, absent=Absent.ZERO, keyword_only=True)
"""For kernels in which the wrenches cost too little to be worth a second variant."""

TAU = Output("tau", ("nv",), "generalised force (N m, N)")
ACCELERATION = Output("qdd", ("nv",), "acceleration (rad/s^2, m/s^2)")
SQUARE = ("nv", "nv")
GRADIENT = ("nv", "2*nv")

CORE = ("dynamics", "dynamics-core", "dynamics-gradients", "second-order", "integrators", "fd-param-gradient")
"""Profiles that all of inverse dynamics, forward dynamics and the inverse mass matrix belong to."""
