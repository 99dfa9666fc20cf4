"""What the front-ends of frameworks with automatic differentiation share: operations, their derivatives and batches."""

from __future__ import annotations

from grid_backends.frameworks.handle import FrameworkHandle
from grid_backends.frameworks.operation import Derived, Operation, Units

__all__ = ["Derived", "FrameworkHandle", "Operation", "Units"]
