"""The memory of a block: where inputs, outputs and workspace of 32 samples are. Offsets and sizes are in scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grid_core.codegen.layout import Layout
from grid_core.codegen.shapes import Shape
from grid_core.kernel.kernel import Argument

LANES = 32
TILE = LANES * (LANES + 1)
ONE_WARP_BLOCKS = 6
"""Blocks of one warp for which shared memory must have room at once."""

BARRIER_BYTES = 8
QUAD = 4
"""Offsets are multiples of it, for vectors of 16 bytes."""


@dataclass(frozen=True)
class StagedInput:
    """An input that is copied to shared memory: the row of lane ``l`` begins at ``offset + l * pitch``."""

    name: str
    size: int
    offset: int
    position: int
    """Among the inputs of the kernel."""

    @property
    def pitch(self) -> int:
        """Rows are as in memory, unless that puts more than four lanes into one bank."""
        return self.size + (QUAD if self.size % 8 == 0 else 0)


@dataclass(frozen=True)
class StagedOutput:
    """An output that is collected before it is written out.

    Attributes
    ----------
    layout : Layout
        The entries that are kept; all of them in a cluster.
    form : str
        ``"rows"``: rows as in memory, in shared memory. ``"columns"``: a column per entry, 33 apart, so that lanes and
        entries both spread over the banks. ``"far"``: the same in global memory.
    offset : int
    share : int
        Entries that each block of a cluster collects.
    holes : bool
        Whether some kept entries are not set by anyone.
    """

    layout: Layout
    form: str
    offset: int
    share: int
    holes: bool

    @property
    def name(self) -> str:
        return self.layout.name

    @property
    def size(self) -> int:
        return self.layout.argument.size

    @property
    def scalars(self) -> int:
        return LANES * self.size if self.form == "rows" else _whole((LANES + 1) * self.share)

    def columns(self, blocks: int) -> list[int]:
        """Return the columns of a row at which the shares of a cluster's blocks begin, and where the last one ends."""
        return [min(block * self.share, self.size) for block in range(blocks + 1)]


@dataclass(frozen=True)
class BlockMemory:
    """What a block needs.

    Attributes
    ----------
    inputs : tuple of StagedInput
    outputs : tuple of StagedOutput
    messages : int
        Offset of messages in shared memory.
    near : int
        Messages in shared memory; the others are in global scratch.
    shared_bytes : int
        Dynamic shared memory of a launch.
    barriers : int
        Offset of the barriers of a cluster in shared memory.
    far : int
        Offset of the other messages in global scratch, behind the outputs.
    tiles : int
        Tiles of shared memory, one per warp as far as they fit, through which outputs in global scratch pass.
    slots : int
        Offset of the workspace,
    slots_near : bool
        in shared memory or, if not so, in global scratch.
    scratch : int
        Global scratch of a block, or of all blocks of a cluster.
    """

    inputs: tuple[StagedInput, ...]
    outputs: tuple[StagedOutput, ...]
    messages: int
    near: int
    barriers: int
    far: int
    shared_bytes: int
    tiles: int
    slots: int
    slots_near: bool
    scratch: int


def block_memory(
    inputs: Sequence[tuple[int, Argument]],
    layouts: Mapping[str, Layout],
    holes: frozenset[str],
    slots: int,
    messages: int,
    shape: Shape,
    stages: int,
    scalar_bytes: int,
    most_shared: int,
) -> BlockMemory:
    """Lay out the memory of a block.

    Parameters
    ----------
    inputs : sequence of (int, Argument)
        Those that are copied, with their positions.
    layouts : mapping of str to Layout
    holes : frozenset of str
        Outputs with entries in their rows that nobody sets.
    slots : int
        Slots of the workspace that the workers share.
    messages : int
        Slots for what the workers of a block tell each other.
    stages : int
        Each has a barrier in the memory of a block that belongs to a cluster.
    most_shared : int
        Bytes of shared memory that a block may take.
    """
    room = most_shared // scalar_bytes // (1 if shape.workers > 1 else ONE_WARP_BLOCKS)
    staged: list[StagedInput] = []
    used = 0
    for position, argument in inputs:
        staged.append(StagedInput(argument.name, argument.size, used, position))
        used = _whole(used + LANES * staged[-1].pitch)
    outputs = _outputs(layouts, holes, shape, used, near=True)
    crowded = outputs and outputs[-1].offset + outputs[-1].scalars + LANES * (slots + messages) > room
    if shape.pooled or (not shape.trading and crowded):
        outputs = _outputs(layouts, holes, shape, 0, near=False)
    far = sum(output.scalars for output in outputs if output.form == "far")
    used += sum(output.scalars for output in outputs if output.form != "far")
    tiles = min(shape.warps, most_shared // scalar_bytes // TILE) if far else 0
    if shape.pooled:
        room = min(room, shape.warps * TILE)  # the first cache gets the rest
    near = messages if shape.trading else min(messages, max(0, room - used) // LANES // QUAD * QUAD)
    barriers = used + LANES * near
    far_slots = _whole(far + LANES * (messages - near))
    slots_near = not shape.pooled and barriers + LANES * slots <= room
    first_slot, barriers = (barriers, barriers + LANES * slots) if slots_near else (far_slots, barriers)
    return BlockMemory(
        tuple(staged),
        outputs,
        used,
        near,
        barriers,
        far,
        max(barriers, tiles * TILE) * scalar_bytes + (BARRIER_BYTES * stages if shape.trading else 0),
        tiles,
        first_slot,
        slots_near,
        far_slots + (0 if slots_near else LANES * slots),
    )


def too_large(inputs: Sequence[Argument], scalar_bytes: int, most_shared: int) -> frozenset[str]:
    """Return the inputs that shared memory has no room for, the largest ones; they are read where they are."""
    left, room = set[str](), most_shared // scalar_bytes
    for argument in sorted(inputs, key=lambda a: a.size):
        room -= _whole(LANES * (argument.size + QUAD))
        if room < 0:
            left.add(argument.name)
    return frozenset(left)


def _outputs(
    layouts: Mapping[str, Layout], holes: frozenset[str], shape: Shape, offset: int, *, near: bool
) -> tuple[StagedOutput, ...]:
    outputs = []
    for name, layout in layouts.items():
        plain = near and shape.blocks == 1 and not layout.places and layout.size % 4 != 0
        form = "rows" if plain else "columns" if near else "far"
        share = layout.size if shape.blocks == 1 else -(-layout.size // (LANES * shape.blocks)) * LANES
        outputs.append(StagedOutput(layout, form, offset, share, name in holes and not layout.places))
        offset += outputs[-1].scalars
    return tuple(outputs)


def _whole(scalars: int) -> int:
    """Round up to whole vectors."""
    return -(-scalars // QUAD) * QUAD
