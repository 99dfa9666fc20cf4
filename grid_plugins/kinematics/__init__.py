"""The kinematics family: poses of frames, Jacobians and their rates, operational space, wrenches of contacts, tools."""

from __future__ import annotations

from grid_core.plugins import Algorithm, hookimpl
from grid_plugins.kinematics import (
    frame_jacobian,
    frame_motion,
    hessian,
    operational,
    placement,
    pose,
    runtime,
    wrenches,
)


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (
        *pose.ALGORITHMS,
        *hessian.ALGORITHMS,
        *placement.ALGORITHMS,
        *runtime.ALGORITHMS,
        *frame_jacobian.ALGORITHMS,
        *frame_motion.ALGORITHMS,
        *operational.ALGORITHMS,
        *wrenches.ALGORITHMS,
    )
