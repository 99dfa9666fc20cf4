"""The arguments that the kinematics family shares."""

from __future__ import annotations

from grid_core.plugins.algorithm import Input

Q = Input(
    "q", ("nq",), "configuration (rad, m; floating base: position and unit quaternion xyzw)", tangent="configuration"
)
QD = Input("qd", ("nv",), "velocity along the tangent (rad/s, m/s; floating base: body-frame linear, then angular)")

JACOBIAN = ("6", "nv")
