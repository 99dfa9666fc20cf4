"""Robots on PyTorch tensors: the functions of :mod:`grid_rbd` with ``backend="torch"``.

>>> import grid_rbd.torch
>>> robot = grid_rbd.torch.load_robot("iiwa14.urdf")
>>> robot.inverse_dynamics(q, qd, qdd).square().sum().backward()
"""

# ruff: noqa: E402 - what is imported is checked first

from __future__ import annotations

from grid_rbd.backends import FrameworkFunctions, check_backend

check_backend("torch")

from grid_backends.torch import GraphCallable, TorchRobotHandle

_functions = FrameworkFunctions[TorchRobotHandle]("torch")
register_robot = _functions.register_robot
load_robot = _functions.load_robot
get_robot = _functions.get_robot

__all__ = ["GraphCallable", "TorchRobotHandle", "get_robot", "load_robot", "register_robot"]
