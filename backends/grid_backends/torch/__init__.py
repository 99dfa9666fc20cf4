"""The PyTorch front-end: a handle whose methods are operators of PyTorch."""

from __future__ import annotations

from grid_backends.torch.capture import GraphCallable
from grid_backends.torch.handle import TorchRobotHandle

__all__ = ["GraphCallable", "TorchRobotHandle"]
