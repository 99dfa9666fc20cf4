"""What a robot on a free base does not feel: gravity, and a steady velocity.

Nothing holds such a robot. Gravity accelerates all of it alike, so that its joints and its rotation take no notice, and
neither do they when all of it moves on steadily. Columns of the gradient of forward dynamics that belong to the base
follow from this without the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.trace.linalg import Vector, cross, dot, matvec, transpose, vector
from grid_core.trace.scalar import Real, Scalar


def unfelt_columns(
    k: KernelBuilder, q: Sequence[Real], qd: Sequence[Real], gravity: Sequence[Real]
) -> dict[int, list[Real]]:
    """Return the columns of ``[d qdd/dq | d qdd/dqd]`` that are known without the mass matrix, by their index.

    In body axes, with gravity ``g`` and angular velocity ``w`` of the base, only its linear acceleration changes: by
    ``g x d`` for a rotation ``d``, by nothing for a displacement, and by ``v x w`` for a velocity ``v``: the axes turn.
    """
    tree, nv = k.tree, k.model.nv
    if not _is_free(k, qd):
        return {}
    base = tree.columns[0]
    fall = matvec(transpose(tree.transform(0, q).rotation), vector(gravity))
    w = tree.joint_motion(0, qd).angular

    def accelerated(linear: Vector) -> list[Real]:
        column: list[Real] = [0.0] * nv
        for slot, s in base:
            column[slot] = dot(s.linear, linear)
        return column

    positions = {slot: accelerated(cross(fall, s.angular)) for slot, s in base}
    velocities = {nv + slot: accelerated(cross(s.linear, w)) for slot, s in base if any(s.linear)}
    return positions | velocities


def _is_free(k: KernelBuilder, qd: Sequence[Real]) -> bool:
    """Return whether the robot hangs on nothing but a floating joint without damping, friction and rotors."""
    tree = k.tree
    if tree.parents.count(-1) != 1 or k.model.joints[0].kind != "floating":
        return False
    _, friction = tree.joint_friction(qd)
    held = [x for slot, _ in tree.columns[0] for x in (friction[slot], tree.armature[slot])]
    return not any(isinstance(x, Scalar) or x != 0.0 for x in held)
