"""Kernels: a traced algorithm as named inputs and outputs with stages of independent parts, and its interpreter."""

from grid_core.kernel.builder import KernelBuilder, trace_algorithm
from grid_core.kernel.interpret import evaluate
from grid_core.kernel.kernel import Kernel

__all__ = ["Kernel", "KernelBuilder", "evaluate", "trace_algorithm"]
