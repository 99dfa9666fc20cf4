"""Targets: what units are compiled for, one module each. A level names a target and its instruction set."""

from grid_core.build.targets.cpu import CpuTarget
from grid_core.build.targets.cuda import CudaTarget
from grid_core.build.targets.target import Target, UnitInputs
from grid_core.toolchains.architectures import is_cuda

__all__ = ["CpuTarget", "CudaTarget", "Target", "UnitInputs", "target_of"]


def target_of(level: str) -> Target:
    """Return the target of a level: CUDA for ``sm_90`` and its like, else the CPU."""
    return CudaTarget() if is_cuda(level) else CpuTarget()
