"""Launch shapes: how many warps, of how many blocks, share the work on 32 samples."""

from __future__ import annotations

from dataclasses import dataclass

from grid_core.kernel.kernel import Kernel, Loop
from grid_core.kernel.partition import SMALL

INLINE_OPERATIONS = 12000
"""Largest kernel that one warp runs as one function. The compiler keeps most of its values in registers."""

CLUSTER_OPERATIONS = 8000
"""Smallest kernel that several blocks share. One multiprocessor gets the instructions of smaller ones fast enough."""

WIDE_OPERATIONS = 25000
"""Smallest kernel that the largest clusters share."""


@dataclass(frozen=True)
class Shape:
    """A way to launch a kernel.

    Parameters
    ----------
    warps : int
        Warps of a block.
    blocks : int
        Blocks of a cluster: they run at once on neighbouring multiprocessors and reach each other's shared memory.
    """

    warps: int
    blocks: int = 1

    @property
    def workers(self) -> int:
        return self.warps * self.blocks

    @property
    def name(self) -> str:
        return f"w{self.warps}" + (f"c{self.blocks}" if self.blocks > 1 else "")


def shapes_for(kernel: Kernel, *, clusters: bool, scalar_bytes: int) -> tuple[Shape, ...]:
    """Return the shapes worth building: one warp for large batches, many for small ones, and several blocks of many.

    Each operation is an instruction that a warp runs once, so what a small batch takes is mostly fetching instructions:
    a few warps take all that one multiprocessor gets. Blocks of a cluster fetch on several at once. In a large batch
    many blocks of one warp run the same instructions at about the same time.

    Parameters
    ----------
    kernel : Kernel
    clusters : bool
        Whether the GPUs that it is built for have clusters.
    scalar_bytes : int
        Values in double precision take two registers each. Unless a kernel is small, two warps may be better than one.
    """
    if any(isinstance(action, Loop) for action in kernel.actions):
        return (Shape(1),)
    operations = sum(kernel.operations().values())
    shapes = []
    if operations < INLINE_OPERATIONS:
        shapes = [Shape(1), Shape(2), Shape(4)] if scalar_bytes == 8 and operations >= SMALL else [Shape(1), Shape(4)]
    if operations >= CLUSTER_OPERATIONS:
        shapes += [Shape(8), Shape(16)]
        if clusters:
            shapes.append(Shape(4, 8) if operations >= WIDE_OPERATIONS else Shape(8, 4))
    return tuple(shapes)
