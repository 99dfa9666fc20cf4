"""The factors of the mass matrix, by the way that suits the tree.

Both ways eliminate the columns of the joints from the leaves to the root and arrive at the same ``M = L^T D L``. The
pivot ``D`` of a column is what its subtree weighs along it while all joints further out are free. A small tree has
its matrix factorised. In a large one such a pivot is a small difference of large entries: rounding the entries of a
humanoid with all joints at right angles to single precision changes the inverse by 2e-4 of its largest entry, and
the elimination by 1e-3. Articulated inertias are subtrees with free joints from the start, and keep 3e-7 there.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tree import TracedTree
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Transform
from grid_plugins.dynamics.articulated_body import independent_joints
from grid_plugins.dynamics.articulated_inertia import ArticulatedInertia, Pivot
from grid_plugins.dynamics.factor import Factor, factor

LARGE = 18
"""Velocity coordinates above which articulated bodies take over. The operations are about as many from here on (1 to
14 % more up to 24, fewer above that); a chain of 24 loses 2e-4 in single precision without them, one of 18 4e-5."""


def articulates(k: KernelBuilder) -> bool:
    """Return whether a tree is large and its joints are independent of each other."""
    return k.model.nv > LARGE and independent_joints(k)


def mass_factor(k: KernelBuilder, q: Sequence[Real]) -> Factor:
    """Return the factors of the mass matrix."""
    return articulated_factor(k, q) if articulates(k) else factor(k.call("crba", q=q))


def articulated_factor(k: KernelBuilder, q: Sequence[Real]) -> Factor:
    """Return the factors of the mass matrix of a tree whose joints are independent of each other.

    ``L`` couples a column, with pivot ``D`` and ``U = I^A s``, to a column ``t`` towards the root by ``t^T U / D``,
    with ``U`` moved to the body of ``t``: Rodriguez, Jain and Kreutz-Delgado, "Spatial operator algebra for
    multibody system dynamics" (1992).
    """
    tree, nb, nv = k.tree, k.model.nb, k.model.nv
    transforms = [tree.transform(i, q) for i in range(nb)]
    articulated = [ArticulatedInertia.of(body) for body in tree.lumped_inertias]
    lower: list[list[Real]] = [[float(i == j) for j in range(nv)] for i in range(nv)]
    inverse_d: list[Real] = [0.0] * nv
    for i in reversed(range(nb)):
        with k.section(f"articulated inertia of {k.model.joints[i].name}"):
            apparent, pivots = articulated[i].without(tree.columns[i], tree.armature)
            for pivot in pivots:
                inverse_d[pivot.slot] = pivot.inverse_d
                _couple(tree, i, pivot, transforms, lower)
            parent = tree.parents[i]
            if parent >= 0:
                articulated[parent] = articulated[parent] + apparent.to_parent(transforms[i])
    return Factor(tuple(map(tuple, lower)), tuple(inverse_d))


def _couple(tree: TracedTree, i: int, pivot: Pivot, transforms: Sequence[Transform], lower: list[list[Real]]) -> None:
    """Fill the row of a column of body ``i``: what it shares with the columns before it, towards the root."""
    share, row = pivot.share, lower[pivot.slot]
    for slot, column in tree.columns[i]:
        if slot < pivot.slot:
            row[slot] = column.power(share)
    while tree.parents[i] >= 0:
        share = transforms[i].force_to_parent(share)
        i = tree.parents[i]
        for slot, column in tree.columns[i]:
            row[slot] = column.power(share)
