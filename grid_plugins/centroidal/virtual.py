"""Virtual motions: how every body would move at given joint rates, each seen from its own axes.

A row of a Jacobian transposed is the virtual motion of one unit rate; a row of ``M^-1 J^T`` that of the rates in a row
of ``M^-1``. What a wrench, or an inertial parameter, on a body does to a coordinate is its power on such a motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grid_core.kernel.tree import TracedTree
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Transform

Rates = Sequence[Sequence[Real]]


def unit_rates(nv: int) -> list[list[Real]]:
    """Return one row of rates per coordinate."""
    return [[float(i == j) for j in range(nv)] for i in range(nv)]


def virtual_motions(tree: TracedTree, transforms: Sequence[Transform], rates: Rates) -> Iterator[list[Motion]]:
    """Yield per body its motion for every row of rates, in its own axes about its origin."""
    found: list[list[Motion]] = []
    still = [Motion.zero()] * len(rates)
    for i, parent in enumerate(tree.parents):
        carried = [transforms[i].motion_to_child(s) for s in found[parent]] if parent >= 0 else still
        found.append([s + tree.joint_motion(i, row) for s, row in zip(carried, rates)])
        yield found[i]
