"""Workspace slots of the values that functions of a kernel hand on to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grid_core.codegen.pieces import Form, Piece, Step, leaves_of
from grid_core.kernel.kernel import Action
from grid_core.trace.scalar import Scalar


def assign_slots(steps: Sequence[Step], inlined: frozenset[int], first: int) -> int:
    """Give a slot to every value that leaves its piece, from ``first`` on; return how many there are then.

    A slot is used again as soon as the last function that reads its value has loaded it, or the last step, if the
    functions of that step run at once. What these tell each other is no matter of slots.
    """
    last = _note_loads(steps, inlined)
    slots: dict[int, int] = {}
    free: list[int] = []
    used = first
    number = 0
    for step in steps:
        ending: list[int] = []
        for piece, event in _running(step):
            for x in leaves_of(event, inlined):
                if last.get(x.id) == number:
                    del last[x.id]
                    ending.append(slots[x.id])
            if step.form is not Form.DEALT:
                free += ending
                ending.clear()
            if isinstance(event, Scalar) and event.id in last:
                used += not free
                piece.saves[event.id] = slots[event.id] = free.pop() if free else used - 1
            number += 1
        free += ending
    for step in steps:
        for piece in step.pieces:
            piece.loads = {node: slots[node] for node in piece.loads}
    return used


def _note_loads(steps: Sequence[Step], inlined: frozenset[int]) -> dict[int, int]:
    """Note what each piece loads; return, for every value that leaves its piece, the event that reads it last."""
    home: dict[int, object] = {}
    last: dict[int, int] = {}
    number = 0
    for step in steps:
        if step.form is Form.DEALT:
            home |= {event.id: step for _, event in _running(step) if isinstance(event, Scalar)}
        for piece, event in _running(step):
            own = step if step.form is Form.DEALT else piece
            for x in leaves_of(event, inlined):
                if home[x.id] is not own:
                    last[x.id] = number
                    piece.loads[x.id] = -1
            if isinstance(event, Scalar):
                home[event.id] = own
            number += 1
    return last


def _running(step: Step) -> Iterator[tuple[Piece, Scalar | Action]]:
    """Yield the events of the pieces of a step."""
    return ((piece, event) for piece in step.pieces for _, event in piece.staged())
