"""Schedules a kernel for several workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grid_core.codegen.exchange import Program, exchange
from grid_core.codegen.layout import Layout
from grid_core.codegen.pieces import Barrier, cost_of
from grid_core.codegen.schedule import Schedule, events_of, inlined_nodes, named_events
from grid_core.kernel.kernel import Action, Kernel, Store
from grid_core.kernel.partition import partition
from grid_core.trace.scalar import Scalar


def schedule_stages(
    kernel: Kernel, kept: Mapping[str, Layout], workers: int, blocks: int = 1, width: int = 4
) -> Schedule:
    """Deal a kernel to workers that meet at a barrier after every stage; see :mod:`grid_core.kernel.partition`.

    Parameters
    ----------
    kernel : Kernel
        One without table loops.
    kept : mapping of str to Layout
        Where the entries of outputs are kept.
    workers : int
        One piece each, a :class:`~grid_core.codegen.exchange.Program`.
    blocks : int
        Groups of equally many workers with a workspace each.
    width : int
        How many values one instruction moves at most: 1, 2 or 4.
    """
    events, constants = events_of(kernel, kept)
    stages = partition(kernel, workers, blocks).stages
    stages = stages or (((),) * workers,)  # without operations, inputs may still be stored
    home = {n: (stage, worker) for stage, dealt in enumerate(stages) for worker, ids in enumerate(dealt) for n in ids}
    inlined = inlined_nodes(events, home)
    work: list[list[list[Scalar | Action]]] = [[[] for _ in range(workers)] for _ in stages]
    for event in named_events(events, inlined):
        source = event.value if isinstance(event, Store) else event
        stage, worker = home.get(source.id, (0, 0)) if isinstance(source, Scalar) else (0, 0)
        work[stage][worker].append(event)
    programs = [
        _program([dealt[worker] for dealt in work], inlined, worker * blocks // workers) for worker in range(workers)
    ]
    slots = exchange(programs, inlined, blocks, width)
    return Schedule(kernel, kept, constants, programs, inlined, {}, slots)


def _program(stages: Sequence[Sequence[Scalar | Action]], inlined: frozenset[int], block: int) -> Program:
    """Return what one worker does, with a barrier between stages."""
    program = Program(block=block)
    for stage, events in enumerate(stages):
        program.events += [Barrier()] if stage > 0 else []
        program.events += events
        program.operations += sum(cost_of(event, inlined) for event in events)
    return program
