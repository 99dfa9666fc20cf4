"""Writes the body of each piece of a schedule as C++ statements."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from grid_core.codegen.exchange import Program
from grid_core.codegen.expression import Writer
from grid_core.codegen.layout import zero_runs
from grid_core.codegen.loops import write_loop
from grid_core.codegen.pieces import Barrier, Form, Piece, inputs_of, leaves_of
from grid_core.codegen.schedule import Schedule
from grid_core.codegen.text import comment
from grid_core.kernel.kernel import Kernel, Loop, Store
from grid_core.trace.scalar import Scalar


@dataclass(frozen=True)
class Function:
    """A straight-line C++ function: its name and the lines of its body."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    workspace: bool
    lines: tuple[str, ...]
    operations: int
    shared: bool = False
    """Whether all ``workers`` run it, each with its number as ``worker``."""


def write_functions(schedule: Schedule, held: Collection[str] = ()) -> tuple[Function, ...]:
    """Return one function per piece, named after the kernel and numbered; ``held`` inputs have their own type."""
    pieces = ((piece, step.form is Form.ROWS) for step in schedule.steps for piece in step.pieces)
    return tuple(
        _function(schedule, f"{schedule.kernel.name}_{number}", piece, held, shared=shared)
        for number, (piece, shared) in enumerate(pieces)
    )


def write_constants(schedule: Schedule) -> tuple[str, ...]:
    """Return the statements that set the outputs known at generation time, zeros excepted."""
    writer = Writer(schedule.inlined, schedule.arrays)
    return tuple(
        f"{store.target}[{schedule.kept[store.target].place(store.index)}] = {writer.value(store.value)};"
        for store in schedule.constants
    )


def write_zeros(kernel: Kernel) -> tuple[str, ...]:
    """Return the statements that clear the outputs which nothing sets."""
    return tuple(
        f"for (int k = {first}; k < {end}; ++k) {output.name}[k] = V{{}};"
        if end > first + 1
        else f"{output.name}[{first}] = V{{}};"
        for output in kernel.outputs
        for first, end in zero_runs(kernel, output.name)
    )


def _function(schedule: Schedule, name: str, piece: Piece, held: Collection[str], *, shared: bool) -> Function:
    outputs = {output.name for output in schedule.kernel.outputs}
    written = {e.target for e in piece.events if isinstance(e, Store)} & outputs
    written |= {s.target for e in piece.events if isinstance(e, Loop) for s in e.stores} & outputs
    read = {x.data[0] for _, e in piece.staged() for x in inputs_of(e, schedule.inlined)}
    lines = tuple(_lines(schedule, piece, held, shared=shared))
    return Function(
        name,
        tuple(i.name for i in schedule.kernel.inputs if i.name in read),
        tuple(o.name for o in schedule.kernel.outputs if o.name in written),
        any("ws[" in line or "ws." in line for line in lines),
        lines,
        piece.operations,
        shared,
    )


def _lines(schedule: Schedule, piece: Piece, held: Collection[str], *, shared: bool) -> Iterator[str]:
    writer = Writer(schedule.inlined, schedule.arrays, held)
    ready: set[int] = set()
    section = ""
    stage = piece.stage
    dealt = 0
    for event in piece.events:
        if isinstance(event, Barrier):
            yield f"ws.barrier({stage}, {_expected(piece, stage)});"
            stage += 1
            continue
        if event.section not in ("", section):
            section = event.section
            yield f"// {comment(section)}"
        for x in leaves_of(event, schedule.inlined):
            if x.id not in ready:
                yield from _load(piece, writer, x, ready)
        if isinstance(event, Scalar):
            yield from _define(piece, writer, event, ready)
        elif isinstance(event, Store):
            base = schedule.arrays.get(event.target)
            at = schedule.kept[event.target].place(event.index) if base is None else base + event.index
            target = f"{event.target if base is None else 'ws'}[{at}]"
            yield f"{target} = {writer.value(event.value)};"
        else:
            yield from write_loop(event, writer, schedule.kept, dealt if shared else None)
            dealt += len(event.table)


def _define(piece: Piece, writer: Writer, node: Scalar, ready: set[int]) -> Iterator[str]:
    if node.op in ("sin", "cos"):
        yield from _sincos(piece, writer, node, ready)
    else:
        yield f"const V {writer.name(node)} = {writer.definition(node)};"
    yield from _save(piece, writer, node)


def _expected(piece: Piece, stage: int) -> int:
    """Return how many values a barrier waits for from other blocks, as far as this worker counts them."""
    return piece.expected[stage] if isinstance(piece, Program) and piece.expected else 0


def _load(piece: Piece, writer: Writer, node: Scalar, ready: set[int]) -> Iterator[str]:
    """Load a value that another piece made, with those that came in the same message; note what was loaded."""
    if isinstance(piece, Program) and node.id in piece.incoming:
        message = piece.incoming[node.id]
        ready.update(message.nodes)
        names = _names(writer, message.nodes)
        yield f"V {names};"
        yield f"ws.get({message.slots[piece.block]}, {names});"
    elif node.id in piece.loads:
        ready.add(node.id)
        yield f"const V {writer.name(node)} = ws[{piece.loads[node.id]}];"


def _save(piece: Piece, writer: Writer, node: Scalar) -> Iterator[str]:
    """Save a value that other pieces read, or the message that it completes."""
    if isinstance(piece, Program) and node.id in piece.outgoing:
        message = piece.outgoing[node.id]
        for block, slot in message.slots.items():
            where = f"put({slot}" if block == piece.block else f"push({block}, {slot}"
            yield f"ws.{where}, {_names(writer, message.nodes)});"
    if node.id in piece.saves:
        yield f"ws[{piece.saves[node.id]}] = {writer.name(node)};"


def _names(writer: Writer, nodes: Sequence[int]) -> str:
    return ", ".join(map(writer.local, nodes))


def _sincos(piece: Piece, writer: Writer, node: Scalar, ready: set[int]) -> Iterator[str]:
    """Evaluate sine and cosine of one angle together when both are wanted in this piece."""
    if node.id in ready:
        return
    twin = _twin(piece, node)
    if twin is None:
        yield f"const V {writer.name(node)} = {writer.definition(node)};"
        return
    ready.add(twin.id)
    sine, cosine = (node, twin) if node.op == "sin" else (twin, node)
    yield f"V {writer.name(sine)}, {writer.name(cosine)};"
    yield f"gm::sincos({writer.value(node.args[0])}, {writer.name(sine)}, {writer.name(cosine)});"


def _twin(piece: Piece, node: Scalar) -> Scalar | None:
    other = "cos" if node.op == "sin" else "sin"
    for event in piece.events:
        if isinstance(event, Scalar) and event.op == other and event.args[0] is node.args[0]:
            return event
    return None
