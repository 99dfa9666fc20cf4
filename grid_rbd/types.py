"""Classes of what calls return, for annotations."""

from __future__ import annotations

from grid_backends.numpy import RobotHandle
from grid_consumers.artifact import ConsumerArtifact
from grid_rbd.identification import BaseParameters

__all__ = [
    "BaseParameters",
    "ConsumerArtifact",
    "RobotHandle",
]
