"""Robots on JAX arrays: the functions of :mod:`grid_rbd` with ``backend="jax"``.

>>> import grid_rbd.jax
>>> robot = grid_rbd.jax.load_robot("iiwa14.urdf")
>>> jax.jit(jax.grad(lambda q: robot.end_effector_pose(q)[2]))(q)
"""

# ruff: noqa: E402 - what is imported is checked first

from __future__ import annotations

from grid_rbd.backends import FrameworkFunctions, check_backend

check_backend("jax")

from grid_backends.jax import JaxRobotHandle

_functions = FrameworkFunctions[JaxRobotHandle]("jax")
register_robot = _functions.register_robot
load_robot = _functions.load_robot
get_robot = _functions.get_robot

__all__ = ["JaxRobotHandle", "get_robot", "load_robot", "register_robot"]
