"""Renders the CUDA unit of an algorithm: kernels in which the warps of a block share the work on 32 samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from grid_core.codegen.layout import Layout, layouts
from grid_core.codegen.render import SCALARS, render_template
from grid_core.codegen.schedule import schedule, schedule_stages
from grid_core.codegen.statements import Function, write_constants, write_functions
from grid_core.kernel.builder import trace_algorithm, variants
from grid_core.kernel.kernel import Argument, Kernel, Loop
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.algorithm import Algorithm
from grid_core.toolchains.architectures import SHARED, Architectures

if TYPE_CHECKING:
    from grid_core.model import Model

LANES = 32
TILE = LANES * (LANES + 1)
SCALAR_BYTES = {"float32": 4, "float64": 8}

LOCAL_BYTES = 16 << 10
"""Largest workspace of a thread alone. The driver sets memory aside for as many threads as the GPU could run at once,
whether or not they run; a larger workspace is in scratch, which is bounded."""


@dataclass(frozen=True)
class BlockKernel:
    """A kernel for blocks of ``workers`` warps, with the memory that a block needs.

    Shared memory holds the inputs (rows of odd length), the outputs (33 wide) and the workspace (32 wide), as far as
    they fit; what does not fit is in global scratch.
    """

    name: str
    workers: int
    absent: tuple[str, ...]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    layouts: tuple[Layout, ...]
    functions: tuple[Function, ...]
    constants: tuple[str, ...]
    slots: int
    scalar_bytes: int
    most_shared: int

    @cached_property
    def near_inputs(self) -> tuple[str, ...]:
        """Names of the inputs that are staged in shared memory; the largest may have to be in global scratch."""
        near, room = [], self.most_shared // self.scalar_bytes
        for argument in sorted(self.inputs, key=lambda a: a.size):
            room -= _row_scalars(argument)
            if room >= 0:
                near.append(argument.name)
        return tuple(near)

    @property
    def input_scalars(self) -> int:
        """Scalars of the inputs in shared memory."""
        return sum(_row_scalars(a) for a in self.inputs if a.name in self.near_inputs)

    @property
    def output_scalars(self) -> int:
        return sum((LANES + 1) * kept.size for kept in self.layouts)

    @property
    def is_local(self) -> bool:
        """Whether each thread has its workspace in memory of its own."""
        return self.workers == 1 and self.slots * self.scalar_bytes <= LOCAL_BYTES

    @property
    def workspace_scalars(self) -> int:
        return 0 if self.is_local else LANES * self.slots

    @property
    def outputs_shared(self) -> bool:
        """Whether outputs are collected in shared memory; otherwise in global scratch."""
        kept = self.input_scalars + self.output_scalars + self.workspace_scalars
        return kept * self.scalar_bytes <= self.shared_limit

    @property
    def shared_slots(self) -> int:
        """How many workspace slots are in shared memory; the others are in global scratch."""
        kept = self.input_scalars + (self.output_scalars if self.outputs_shared else 0)
        room = self.shared_limit // self.scalar_bytes - kept
        return max(0, min(self.workspace_scalars, room)) // LANES

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a launch."""
        scalars = self.input_scalars + LANES * self.shared_slots
        scalars += self.output_scalars if self.outputs_shared else 0
        return max(scalars, self.tiles * TILE) * self.scalar_bytes

    @property
    def tiles(self) -> int:
        """Tiles of shared memory, one per warp as far as they fit, through which outputs in global scratch pass."""
        return 0 if self.outputs_shared else min(self.workers, self.most_shared // self.scalar_bytes // TILE)

    @property
    def scratch(self) -> int:
        """Global scratch of a block, in scalars."""
        far = self.workspace_scalars - LANES * self.shared_slots
        far += sum(_row_scalars(a) for a in self.inputs if a.name not in self.near_inputs)
        return far + (0 if self.outputs_shared else self.output_scalars)

    @property
    def shared_limit(self) -> int:
        """Shared memory that a block may take: all for many warps, little enough for many blocks of one warp."""
        return self.most_shared if self.workers > 1 else self.most_shared // 8


def _row_scalars(argument: Argument) -> int:
    return LANES * (argument.size | 1)


def block_kernel(
    kernel: Kernel, absent: frozenset[str], workers: int, scalar_bytes: int, shared_bytes: int
) -> BlockKernel:
    """Schedule a kernel for blocks of ``workers`` warps that may take ``shared_bytes`` of shared memory."""
    kept = layouts(kernel)
    plan = schedule(kernel, kept) if workers == 1 else schedule_stages(kernel, kept, workers)
    return BlockKernel(
        f"{kernel.name}_w{workers}",
        workers,
        tuple(sorted(absent)),
        kernel.inputs,
        kernel.outputs,
        tuple(kept.values()),
        write_functions(plan),
        write_constants(plan),
        plan.slots,
        scalar_bytes,
        shared_bytes,
    )


def worker_counts(kernel: Kernel) -> tuple[int, ...]:
    """Return the block shapes worth building: many warps for small batches, one for large ones."""
    if any(isinstance(action, Loop) for action in kernel.actions):
        return (1,)
    operations = sum(kernel.operations().values())
    return (1, 4) if operations < 2000 else (1, 8) if operations < 10000 else (1, 16)


def describe(algorithm: Algorithm, dtype: str, wanted: Architectures, kernels: Sequence[BlockKernel]) -> dict[str, Any]:
    """Return what the runner needs to know of a unit, as JSON values."""
    return {
        "abi": 2,
        "algorithm": algorithm.name,
        "dtype": dtype,
        "machine": list(wanted.machine),
        "portable": list(wanted.portable),
        "kernels": [
            {
                "name": kernel.name,
                "workers": kernel.workers,
                "absent": list(kernel.absent),
                "shared_bytes": kernel.shared_bytes,
                "scratch": kernel.scratch,
                "inputs": [[a.name, a.size] for a in kernel.inputs],
                "outputs": [[a.name, a.size] for a in kernel.outputs],
            }
            for kernel in kernels
        ],
    }


def render_cuda_unit(
    algorithm: Algorithm,
    model: Model,
    algorithms: Mapping[str, Algorithm],
    settings: TraceSettings,
    dtype: str,
    template_folders: Sequence[str] = (),
    workers: Sequence[int] | None = None,
    shared_bytes: int = SHARED[90],
) -> tuple[str, list[BlockKernel]]:
    """Return the CUDA source of one algorithm for one robot, and its kernels with what a launch of each needs."""
    kernels: list[BlockKernel] = []
    for absent in variants(algorithm):
        kernel = trace_algorithm(algorithm, model, algorithms, settings, absent)
        counts = workers or worker_counts(kernel)
        kernels.extend(block_kernel(kernel, absent, count, SCALAR_BYTES[dtype], shared_bytes) for count in counts)
    text = render_template(
        "unit.cu.j2", template_folders, algorithm=algorithm, model=model, scalar=SCALARS[dtype], kernels=kernels
    )
    return text, kernels
