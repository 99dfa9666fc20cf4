"""Launch shapes: how many warps, of how many blocks, share the work on 32 samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from grid_core.kernel.kernel import Kernel, Loop
from grid_core.kernel.partition import SMALL

INLINE_OPERATIONS = 12000
"""Largest kernel that one warp runs as one function. The compiler keeps most of its values in registers."""

CLUSTER_OPERATIONS = 8000
"""Smallest kernel that several blocks share. One multiprocessor gets the instructions of smaller ones fast enough."""

MANY_OUTPUTS = 4096
"""Scalars of the outputs of a kernel from which on copying them is worth many warps."""

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
    pooled : bool
        Whether outputs and workspace are in global memory, where all blocks of a cluster reach them, as many as a
        launch says. The first block does straight-line code; all share the rows of loops and the copying of outputs.
    """

    warps: int
    blocks: int = 1
    pooled: bool = False

    @property
    def workers(self) -> int:
        return self.warps * self.blocks

    @property
    def trading(self) -> bool:
        """Whether blocks of a cluster send each other values, and each collects a part of the outputs."""
        return self.blocks > 1 and not self.pooled

    @property
    def name(self) -> str:
        return f"{'p' if self.pooled else 'w'}{self.warps}" + (f"c{self.blocks}" if self.blocks > 1 else "")


POOL = Shape(16, pooled=True)

POOL_BLOCKS = (1, 2, 4, 8, 16)
"""Blocks of the clusters in which a pooled kernel is launched: powers of two."""


def has_loops(kernel: Kernel) -> bool:
    return any(isinstance(action, Loop) for action in kernel.actions)


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
    operations = sum(kernel.operations().values())
    many_outputs = sum(output.size for output in kernel.outputs) >= MANY_OUTPUTS
    if has_loops(kernel):
        return (Shape(1), POOL) if operations >= CLUSTER_OPERATIONS or many_outputs else (Shape(1),)
    shapes = []
    if operations < INLINE_OPERATIONS:
        shapes = [Shape(1), Shape(2), Shape(4)] if scalar_bytes == 8 and operations >= SMALL else [Shape(1), Shape(4)]
    if operations >= CLUSTER_OPERATIONS:
        shapes += [Shape(8)] if many_outputs else [Shape(8), Shape(16)]
        if clusters:
            shapes.append(Shape(4, 8) if operations >= WIDE_OPERATIONS else Shape(8, 4))
    return (*shapes, POOL) if many_outputs else tuple(shapes)


def launched_as(shape: Shape, *, clusters: bool) -> Iterator[Shape]:
    """Yield the shapes in which a kernel for one shape is launched."""
    if not shape.pooled:
        yield shape
        return
    for blocks in POOL_BLOCKS if clusters else POOL_BLOCKS[:1]:
        yield replace(shape, blocks=blocks)
