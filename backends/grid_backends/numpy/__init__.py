"""The NumPy front-end: a handle whose methods follow from the declarations of the algorithms."""

from __future__ import annotations

from grid_backends.numpy.cuda import CudaHandle, open_cuda_unit
from grid_backends.numpy.functions import UnitFunctions
from grid_backends.numpy.handle import RobotHandle
from grid_backends.numpy.record import RobotRecord
from grid_backends.numpy.reference import ReferenceFunctions

__all__ = [
    "CudaHandle",
    "ReferenceFunctions",
    "RobotHandle",
    "RobotRecord",
    "UnitFunctions",
    "open_cuda_unit",
]
