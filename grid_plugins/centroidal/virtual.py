"""Virtual motions: how every body would move at given joint rates, each seen from its own axes.

A row of a Jacobian transposed is the virtual motion of one unit rate; a row of ``M^-1 J^T`` that of the rates in a row
of ``M^-1``. What a wrench, or an inertial parameter, on a body does to a coordinate is its power on such a motion.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.tree import TracedTree
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Transform

Rates = Sequence[Sequence[Real]]


def unit_rates(nv: int) -> list[list[Real]]:
    """Return one row of rates per coordinate."""
    return [[float(i == j) for j in range(nv)] for i in range(nv)]


def virtual_motions(tree: TracedTree, transforms: Sequence[Transform], rates: Rates) -> list[list[Motion]]:
    """Return per row of rates the motion of every body, in its own axes about its origin."""
    return [_carried(tree, transforms, row) for row in rates]


def _carried(tree: TracedTree, transforms: Sequence[Transform], row: Sequence[Real]) -> list[Motion]:
    found: list[Motion] = []
    for i, parent in enumerate(tree.parents):
        own = tree.joint_motion(i, row)
        found.append(transforms[i].motion_to_child(found[parent]) + own if parent >= 0 else own)
    return found
