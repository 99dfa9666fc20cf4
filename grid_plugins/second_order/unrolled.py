"""The tensors of inverse dynamics as straight-line code, in which the zeros and constants of the robot vanish."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.trace.scalar import Real
from grid_plugins.second_order.branches import Branches
from grid_plugins.second_order.terms import Member, Pair, Tensor, fill

Cube = list[list[list[Real]]]


def unrolled(k: KernelBuilder, branches: Branches, curvature: Sequence[Real]) -> dict[Tensor, Cube]:
    """Return the four tensors, entries ``[i][j][k]``, with the second derivative of joint friction per slot."""
    nv = k.model.nv
    cubes: dict[Tensor, Cube] = {t: [[[0.0] * nv for _ in range(nv)] for _ in range(nv)] for t in Tensor}

    def add(tensor: Tensor, value: Real, *places: Sequence[Member]) -> None:
        """Coordinates that follow another joint share the slot of its."""
        for force, column, direction in places:
            row = cubes[tensor][force.slot][column.slot]
            row[direction.slot] = row[direction.slot] + value

    members = [Member(a.slot, a.moved) for a in branches.coordinates]
    pairs: dict[tuple[int, int], Pair] = {}
    for a, b, c in branches.triples():
        with k.section(f"second derivatives: {k.model.joints[a.joint].name}"):
            b_of_a, of = b.seen_from(a), (a.number, b.number)
            if of not in pairs:
                pairs[of] = Pair.of(a.moved, b.moved, b_of_a)
            fill(add, pairs[of], (members[x.number] for x in (a, b, c)), b_of_a, c.seen_from(b))
    velocities = cubes[Tensor.VELOCITIES]
    for slot, value in enumerate(curvature):
        velocities[slot][slot][slot] = velocities[slot][slot][slot] + value
    return cubes
