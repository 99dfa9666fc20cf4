"""Workspace slots of the values that functions of a kernel hand on to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grid_core.codegen.pieces import Piece, leaves_of
from grid_core.kernel.kernel import Action
from grid_core.trace.scalar import Scalar


def assign_slots(pieces: Sequence[Piece], inlined: frozenset[int], first: int) -> int:
    """Give a slot to every value that leaves its piece, from ``first`` on; return how many there are then.

    A slot is used again as soon as the last function that reads its value has loaded it.
    """
    last = _note_loads(pieces, inlined)
    slots: dict[int, int] = {}
    free: list[int] = []
    used = first
    for number, (piece, event) in enumerate(_running(pieces)):
        for x in leaves_of(event, inlined):
            if last.get(x.id) == number:
                del last[x.id]
                free.append(slots[x.id])
        if isinstance(event, Scalar) and event.id in last:
            used += not free
            piece.saves[event.id] = slots[event.id] = free.pop() if free else used - 1
    for piece in pieces:
        piece.loads = {node: slots[node] for node in piece.loads}
    return used


def _note_loads(pieces: Sequence[Piece], inlined: frozenset[int]) -> dict[int, int]:
    """Note what each piece loads; return, for every value that leaves its piece, the event that reads it last."""
    home: dict[int, Piece] = {}
    last: dict[int, int] = {}
    for number, (piece, event) in enumerate(_running(pieces)):
        for x in leaves_of(event, inlined):
            if home[x.id] is not piece:
                last[x.id] = number
                piece.loads[x.id] = -1
        if isinstance(event, Scalar):
            home[event.id] = piece
    return last


def _running(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Scalar | Action]]:
    """Yield the events of pieces that run one after the other."""
    return ((piece, event) for piece in pieces for _, event in piece.staged())
