"""Schedules a kernel for several workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from grid_core.codegen.dealing import in_levels, is_dealt, side_by_side
from grid_core.codegen.exchange import Program, exchange
from grid_core.codegen.layout import Layout
from grid_core.codegen.pieces import Barrier, Form, Step, cost_of
from grid_core.codegen.schedule import Schedule, cut, events_of, finish, inlined_nodes, named_events, read_late
from grid_core.kernel.kernel import LEAVES, Action, Kernel, Loop, Store
from grid_core.kernel.partition import partition
from grid_core.trace.scalar import Scalar

BRIEF = 200
"""Operations between loops that are not worth dealing."""

Event = Scalar | Action

Home = tuple[int, int, int]
"""The stretch of a kernel in which a value is made, the stage of it, and the worker."""


def schedule_stages(
    kernel: Kernel, kept: Mapping[str, Layout], workers: int, blocks: int = 1, width: int = 4
) -> Schedule:
    """Deal a kernel to workers: straight-line code in stages (:mod:`grid_core.kernel.partition`), and rows of loops.

    Rows of loops are for the workers of all blocks that a launch has, straight-line code between loops for one block.

    Parameters
    ----------
    kernel : Kernel
    kept : mapping of str to Layout
        Where the entries of outputs are kept.
    workers : int
    blocks : int
        Groups of equally many workers.
    width : int
        How many values one instruction moves at most: 1, 2 or 4.
    """
    events, constants = events_of(kernel, kept)
    events = [part for event in events for part in (in_levels(event) if isinstance(event, Loop) else [event])]
    stretches = _stretches(events)
    home = {node: place for n, stretch in enumerate(stretches) for node, place in stretch.homes(n, workers, blocks)}
    inlined = inlined_nodes(events, home) - (read_late(events) if len(stretches) > 1 else frozenset())
    steps: list[Step] = []
    messages = 0
    for number, stretch in enumerate(stretches):
        if stretch.form is Form.ROWS:
            steps += [Step(Form.ROWS, [piece]) for piece in side_by_side(stretch.loops())]
            continue
        named = named_events(stretch.events, inlined)
        if stretch.form is Form.ALONE:
            steps.append(Step(Form.ALONE, cut(named, inlined)))
            continue
        programs = _programs(named, home, number, inlined, workers, blocks)
        messages = max(messages, exchange(programs, inlined, blocks, width))
        steps.append(Step(Form.DEALT, programs))
    return finish(kernel, kept, constants, steps, inlined, messages)


@dataclass(frozen=True)
class _Stretch:
    """Events in a row that the workers share in one way."""

    form: Form
    events: list[Event]

    def loops(self) -> Iterator[Loop]:
        return (event for event in self.events if isinstance(event, Loop))

    @property
    def is_brief(self) -> bool:
        return sum(isinstance(event, Scalar) and event.op not in LEAVES for event in self.events) < BRIEF

    def homes(self, number: int, workers: int, blocks: int) -> Iterator[tuple[int, Home]]:
        """Yield the values that it makes, each with its place; ``number`` is that of the stretch."""
        nodes = [event for event in self.events if isinstance(event, Scalar)]
        if self.form is not Form.DEALT:
            yield from ((node.id, (number, 0, 0)) for node in nodes)
            return
        for stage, dealt in enumerate(partition(nodes, workers, blocks).stages):
            for worker, made in enumerate(dealt):
                yield from ((node, (number, stage, worker)) for node in made)


def _stretches(events: Sequence[Event]) -> list[_Stretch]:
    found: list[_Stretch] = []
    for form, several in groupby(events, key=_form):
        stretch = list(several)
        parts = _parts_that_store_first(stretch) if form is Form.DEALT else [stretch]
        found += [_Stretch(form, part) for part in parts]
    if len(found) > 1:
        found = [_Stretch(Form.ALONE, s.events) if s.form is Form.DEALT and s.is_brief else s for s in found]
    return list(_joined(found)) or [_Stretch(Form.DEALT, [])]


def _joined(stretches: Iterable[_Stretch]) -> Iterator[_Stretch]:
    """Put together what the first worker does in a row."""
    for form, several in groupby(stretches, key=lambda stretch: stretch.form):
        if form is Form.ALONE:
            yield _Stretch(form, [event for stretch in several for event in stretch.events])
        else:
            yield from several


def _parts_that_store_first(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Cut straight-line code where it reads slots that it has stored."""
    part: list[Event] = []
    stored: set[tuple[str, int]] = set()
    for event in events:
        if isinstance(event, Store):
            stored.add((event.target, event.index))
        elif isinstance(event, Scalar) and event.op == "slot" and event.data[:2] in stored:
            yield part
            part, stored = [], set()
        part.append(event)
    yield part


def _form(event: Event) -> Form:
    if not isinstance(event, Loop):
        return Form.DEALT
    return Form.ROWS if is_dealt(event) else Form.ALONE


def _programs(
    named: Sequence[Event], home: Mapping[int, Home], number: int, inlined: frozenset[int], workers: int, blocks: int
) -> list[Program]:
    """Return what each worker does in stretch ``number``, whose events these are, with a barrier between stages."""
    stages = 1 + max((stage for stretch, stage, _ in home.values() if stretch == number), default=0)
    work: list[list[list[Event]]] = [[[] for _ in range(workers)] for _ in range(stages)]
    passed = 0
    for event in named:
        source = event.value if isinstance(event, Store) else event
        place = home.get(source.id) if isinstance(source, Scalar) else None
        if place is not None and place[0] == number:
            work[place[1]][place[2]].append(event)
        else:  # it stores what is known
            work[0][passed % workers].append(event)
            passed += 1
    return [
        _program([dealt[worker] for dealt in work], inlined, worker * blocks // workers) for worker in range(workers)
    ]


def _program(stages: Sequence[Sequence[Event]], inlined: frozenset[int], block: int) -> Program:
    """Return what one worker does, with a barrier between stages."""
    program = Program(block=block)
    for stage, events in enumerate(stages):
        program.events += [Barrier()] if stage > 0 else []
        program.events += events
        program.operations += sum(cost_of(event, inlined) for event in events)
    return program
