"""Renders the CUDA unit of an algorithm: kernels in which the warps of a block share the work on 32 samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from grid_core.codegen.block import BlockMemory, block_memory, too_large
from grid_core.codegen.exchange import Program
from grid_core.codegen.images import MOST_REGISTERS, Division, images
from grid_core.codegen.layout import Layout, layouts, whole_rows
from grid_core.codegen.order import for_registers
from grid_core.codegen.pieces import Barrier, Form, Piece, Step
from grid_core.codegen.render import SCALARS, render_template
from grid_core.codegen.schedule import Schedule, schedule
from grid_core.codegen.shapes import INLINE_OPERATIONS, Shape, launched_as, shapes_for
from grid_core.codegen.stages import schedule_stages
from grid_core.codegen.statements import Function, write_constants, write_functions
from grid_core.kernel.builder import trace_algorithm, variants
from grid_core.kernel.kernel import LEAVES, Argument, Kernel, Loop, Store
from grid_core.kernel.partition import LATENCY, SMALL
from grid_core.kernel.settings import TraceSettings
from grid_core.kernel.tables import TABLES
from grid_core.plugins.algorithm import Absent, Algorithm
from grid_core.toolchains.architectures import Architectures

if TYPE_CHECKING:
    from grid_core.model import Model

SCALAR_BYTES = {"float32": 4, "float64": 8}
VECTOR_BYTES = 16

GROUP = 500
"""Operations of a group (see :mod:`~grid_core.codegen.order`) for one warp: many blocks hide that neighbours depend on
each other, and few values are alive."""

REGISTER_BYTES = 4 * MOST_REGISTERS
"""Of one thread."""

LOCAL_BYTES = 16 << 10
"""Largest workspace of a thread alone. The driver sets memory aside for as many threads as the GPU could run at once,
whether or not they run; a larger workspace is in scratch, which is bounded."""

SHORT_BYTES = 256
MOST_SMALL_BYTES = 16 << 10
"""Bytes of a launch for rows that all samples share: at least, and at most (the runner has as much)."""

IN_PLACE = 4
"""Scalars of an input that is read where it is, as those that are rarely given are: gravity is in the launch itself."""

CLUSTER_BARRIER = 350
"""What the barrier of a cluster costs, in instructions of a kernel that it shares."""


@dataclass(frozen=True)
class BlockKernel:
    """A kernel for one launch shape.

    Attributes
    ----------
    name : str
    shape : Shape
    absent : tuple of str
        Inputs that it was traced without.
    inputs, outputs : tuple of Argument
    in_place : tuple of (int, str)
        Inputs that are read where they are, with their positions.
    steps : tuple
        Who runs which functions, up to where all workers meet.
    constants : tuple of str
        Statements that set the outputs known beforehand.
    slots : int
        Of the workspace.
    local : bool
        Whether the only thread of a sample has its workspace in memory of its own.
    memory : BlockMemory
    operations : int
    instructions : int
        About as many as a group of samples takes: operations, and messages sent and received.
    rows : int
        Those of rows of loops that all workers share.
    stages : int
    late : tuple of int
        For each block of a cluster, how many outputs it collects that other blocks make.
    """

    name: str
    shape: Shape
    absent: tuple[str, ...]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    in_place: tuple[tuple[int, str], ...]
    steps: tuple[tuple[Form, tuple[Function, ...]], ...]
    constants: tuple[str, ...]
    slots: int
    local: bool
    memory: BlockMemory
    operations: int
    instructions: int
    rows: int
    stages: int
    late: tuple[int, ...]

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(function for _, functions in self.steps for function in functions)

    @property
    def alone(self) -> bool:
        """Whether one warp does all work."""
        return self.shape.workers == 1

    @property
    def inline(self) -> bool:
        """Whether functions become parts of the kernel; large programs of several warps compile faster on their own."""
        return self.operations < (INLINE_OPERATIONS if self.alone else SMALL)


def block_kernel(
    kernel: Kernel,
    absent: frozenset[str],
    shape: Shape,
    scalar_bytes: int,
    most_shared: int,
    in_place: frozenset[str] = frozenset(),
) -> BlockKernel:
    """Schedule a kernel for a launch shape whose blocks may take ``most_shared`` bytes of shared memory."""
    operations = sum(kernel.operations().values())
    kept = layouts(kernel) if shape.blocks == 1 else whole_rows(kernel)
    plan = _schedule(kernel, kept, shape, operations, scalar_bytes)
    numbered = list(enumerate(kernel.inputs))
    in_place = in_place | too_large([a for a in kernel.inputs if a.name not in in_place], scalar_bytes, most_shared)
    staged = [(position, a) for position, a in numbered if a.name not in in_place]
    local = shape.workers == 1 and plan.slots * scalar_bytes <= LOCAL_BYTES
    stages = sum(isinstance(e, Barrier) for step in plan.steps for e in step.pieces[0].events) + len(plan.steps)
    holes = {output.name for output in kernel.outputs if len(kernel.written(output.name)) < kept[output.name].size}
    memory = block_memory(
        staged,
        kept,
        frozenset(holes),
        0 if local else plan.slots,
        plan.messages,
        shape,
        stages,
        scalar_bytes,
        most_shared,
    )
    functions = iter(write_functions(plan))
    steps = tuple((step.form, tuple(islice(functions, len(step.pieces)))) for step in plan.steps)
    return BlockKernel(
        f"{kernel.name}_{shape.name}",
        shape,
        tuple(sorted(absent)),
        kernel.inputs,
        kernel.outputs,
        tuple((position, a.name) for position, a in numbered if a.name in in_place),
        steps,
        (*write_constants(plan), *_zero_places(kept)),
        plan.slots,
        local,
        memory,
        operations,
        sum(round(LATENCY.get(op, 1.0)) * n for op, n in kernel.operations().items()) + sum(map(_moves, plan.pieces)),
        sum(map(_row_operations, plan.steps)),
        stages,
        tuple(_late(plan, memory, block) for block in range(shape.blocks)),
    )


def _row_operations(step: Step) -> int:
    loops = (e for piece in step.pieces for e in piece.events if isinstance(e, Loop))
    counts = (len(loop.table) * sum(node.op not in LEAVES for node in loop.body()) for loop in loops)
    return sum(counts) if step.form is Form.ROWS else 0


def _moves(piece: Piece) -> int:
    """Return how many instructions of a piece move values between it and others."""
    moved = len(piece.loads) + len(piece.saves)
    if isinstance(piece, Program):
        received = {id(message) for message in piece.incoming.values()}
        moved += len(received) + sum(len(message.slots) for message in piece.outgoing.values())
    return moved


def _late(plan: Schedule, memory: BlockMemory, block: int) -> int:
    """Return how many outputs of the share of a block other blocks make."""
    outputs = {output.name: output for output in memory.outputs}
    return sum(
        outputs[event.target].layout.place(event.index) // outputs[event.target].share == block
        for piece in plan.pieces
        if isinstance(piece, Program) and piece.block != block
        for event in piece.events
        if isinstance(event, Store)
    )


def _schedule(kernel: Kernel, kept: Mapping[str, Layout], shape: Shape, operations: int, scalar_bytes: int) -> Schedule:
    if shape.workers > 1:
        return schedule_stages(kernel, kept, shape.workers, shape.blocks, VECTOR_BYTES // scalar_bytes)
    if operations < INLINE_OPERATIONS:
        order = partial(for_registers, room=REGISTER_BYTES // scalar_bytes, size=GROUP)
        return schedule(kernel, kept, INLINE_OPERATIONS, order)
    return schedule(kernel, kept)


def _zero_places(kept: Mapping[str, Layout]) -> Iterator[str]:
    """Yield the statements that set the place of each output which stands for zeros."""
    yield from (f"{layout.name}[{layout.zero}] = T(0);" for layout in kept.values() if layout.places)


def describe(
    algorithm: Algorithm, dtype: str, wanted: Architectures, divisions: Sequence[Division[BlockKernel]]
) -> dict[str, Any]:
    """Return what the runner needs to know of a unit, as JSON values."""
    return {
        "abi": 5,
        "algorithm": algorithm.name,
        "dtype": dtype,
        "machine": list(wanted.machine),
        "portable": list(wanted.portable),
        "small_bytes": small_bytes(algorithm, dtype, divisions),
        "kernels": [
            {
                "name": kernel.name,
                "shape": shape.name,
                "warps": shape.warps,
                "blocks": shape.blocks,
                "pooled": shape.pooled,
                "file": file,
                "instructions": kernel.instructions,
                "rows": kernel.rows,
                "stages": kernel.stages,
                "absent": list(kernel.absent),
                "shared_bytes": kernel.memory.shared_bytes,
                "scratch": kernel.memory.scratch,
                "inputs": [[a.name, a.size] for a in kernel.inputs],
                "outputs": [[a.name, a.size] for a in kernel.outputs],
            }
            for file, division in enumerate(divisions)
            for kernel in division.kernels
            for shape in launched_as(kernel.shape, clusters=wanted.clusters)
        ],
    }


def small_bytes(algorithm: Algorithm, dtype: str, divisions: Sequence[Division[BlockKernel]]) -> int:
    """Return the room in a launch for rows in host memory that all samples share.

    It is enough for a few short vectors, and for what a handle supplies by itself: tables of parameters, default
    values, and what it reads from the words that a caller passes.
    """
    supplied = {i.name for i in algorithm.inputs if i.read is not None or i.default is not None}
    supplied |= {table.input.name for table in TABLES.values()}
    kernels = [kernel for division in divisions for kernel in division.kernels]
    sizes = {a.name: a.size for kernel in kernels for a in kernel.inputs if a.name in supplied}
    return min(SHORT_BYTES + -(-sum(sizes.values()) * SCALAR_BYTES[dtype] // 8) * 8, MOST_SMALL_BYTES)


def cuda_kernels(
    algorithm: Algorithm,
    model: Model,
    algorithms: Mapping[str, Algorithm],
    settings: TraceSettings,
    dtype: str,
    wanted: Architectures,
) -> list[BlockKernel]:
    """Trace an algorithm and schedule it for every launch shape that is worth building."""
    kernels = []
    rare = {i.name for i in algorithm.inputs if i.absent is Absent.ZERO and i.keyword_only}
    for absent in variants(algorithm):
        kernel = trace_algorithm(algorithm, model, algorithms, settings, absent)
        in_place = frozenset(a.name for a in kernel.inputs if a.name in rare or a.size <= IN_PLACE)
        shapes = shapes_for(kernel, clusters=wanted.clusters, scalar_bytes=SCALAR_BYTES[dtype])
        made = [block_kernel(kernel, absent, s, SCALAR_BYTES[dtype], wanted.shared_bytes, in_place) for s in shapes]
        kernels += [one for one in made if _is_worth_building(one, wanted.shared_bytes)] or made[:1]
    return kernels


def _is_worth_building(kernel: BlockKernel, most_shared: int) -> bool:
    """Tell whether a kernel fits and may be the fastest for some batch.

    A cluster has no scratch to fall back on, and its blocks wait for each other at every stage, longer than they work
    if there is little to do in each. Many small blocks that collect outputs in global memory are slower than one that
    is large.
    """
    if kernel.shape.trading and kernel.stages * CLUSTER_BARRIER > kernel.instructions / 2:
        return False
    far = any(output.form == "far" for output in kernel.memory.outputs)
    return kernel.memory.shared_bytes <= most_shared and not (far and kernel.shape.warps < 4)


def render_cuda_unit(
    algorithm: Algorithm,
    model: Model,
    dtype: str,
    divisions: Sequence[Division[BlockKernel]],
    template_folders: Sequence[str] = (),
    stem: str = "unit",
) -> dict[str, str]:
    """Return the CUDA source files of one algorithm for one robot by name, in the order of the images they become."""
    room = small_bytes(algorithm, dtype, divisions)
    common = {"algorithm": algorithm, "model": model, "scalar": SCALARS[dtype], "small_bytes": room}
    texts = {}
    for division, image in zip(divisions, images(stem, divisions)):
        kernels, (first, *parts) = division.kernels, image.sources
        texts[first] = render_template(
            algorithm.cuda_template, template_folders, **common, kernels=kernels, divided=bool(parts)
        )
        for name, workers in zip(parts, division.parts):
            texts[name] = render_template("part.cu.j2", template_folders, **common, kernel=kernels[0], workers=workers)
    return texts
