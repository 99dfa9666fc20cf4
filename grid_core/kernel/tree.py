"""The robot as algorithms see it: joint transforms, inertias and joint dynamics over symbolic scalars.

Constants of the description are floats, so they fold; a table that was asked for at run time becomes a kernel input
of the same meaning (``inertia_params``, ``transform_params``, ``joint_dynamics_params``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from grid_core.kernel.lumping import Lumped, lump
from grid_core.kernel.settings import TraceSettings
from grid_core.kernel.tables import TABLES
from grid_core.plugins.algorithm import resolve
from grid_core.trace.functions import less, select, tanh
from grid_core.trace.linalg import (
    IDENTITY3,
    ZERO3,
    matrix,
    rotation_about,
    rotation_of_quaternion,
    rotation_of_rpy,
    scale,
    vector,
)
from grid_core.trace.scalar import Real, is_zero
from grid_core.trace.spatial import Inertia, Motion, Transform, symmetric

if TYPE_CHECKING:
    from grid_core.model import Model

Declare = Callable[[str, int, tuple[int, ...]], list[Real]]
"""Declares a kernel input (name, size, shape) and returns its scalars."""

Columns = tuple[tuple[int, Motion], ...]
"""The motion subspace of a joint: pairs of a velocity slot and a column of ``S`` in body axes."""


class TracedTree:
    """A robot's tree over symbolic scalars. Body ``i`` is moved by joint ``i``; parent ``-1`` is the world."""

    def __init__(self, model: Model, settings: TraceSettings, declare: Declare) -> None:
        self.model = model
        self.settings = settings
        self._declare = declare

    def table(self, option: str) -> list[list[Real]]:
        """Return the rows of a run-time table."""
        declared = TABLES[option].input
        rows, columns = resolve(declared.shape, self.model.dims)
        flat = self._declare(declared.name, rows * columns, (rows, columns))
        return [flat[columns * i : columns * (i + 1)] for i in range(rows)]

    @cached_property
    def parents(self) -> tuple[int, ...]:
        return tuple(joint.parent for joint in self.model.joints)

    @cached_property
    def columns(self) -> tuple[Columns, ...]:
        """Per joint, its velocity slots and columns of ``S``; a mimic joint's column carries its multiplier."""
        return tuple(
            tuple((j.v_index + k, Motion.of(vector(column)) * j.multiplier) for k, column in enumerate(j.columns))
            for j in self.model.joints
        )

    @cached_property
    def inertias(self) -> tuple[Inertia, ...]:
        """Per body, its inertia about the body origin in body axes."""
        if "inertia" in self.settings.runtime:
            rows = self.table("inertia")
            return tuple(Inertia(r[0], tuple(r[1:4]), (r[4], r[5], r[6], r[7], r[8], r[9])) for r in rows)
        return tuple(
            Inertia(float(b.mass), vector(b.first_moment), symmetric(matrix(b.inertia))) for b in self.model.bodies
        )

    @property
    def lumped_inertias(self) -> tuple[Inertia, ...]:
        """Inertias that move the joints like :attr:`inertias`, with more zeros; see :mod:`grid_core.kernel.lumping`.

        Joint torques, the mass matrix, accelerations, momentum and kinetic energy are those of :attr:`inertias`; forces
        inside single bodies are not. Mass and first moment of the robot are theirs and :attr:`world_inertia`.
        """
        return self._lumped.bodies

    @property
    def world_inertia(self) -> Inertia:
        """What :attr:`lumped_inertias` leave in the world, about its origin."""
        return self._lumped.world

    @cached_property
    def _lumped(self) -> Lumped:
        if self.settings.runtime & {"inertia", "transform"}:
            return Lumped(self.inertias, Inertia(0.0, ZERO3, (0.0,) * 6))
        return lump(self.model)

    @cached_property
    def placements(self) -> tuple[Transform, ...]:
        """Per joint, the pose of its frame at zero in the parent body."""
        if "transform" in self.settings.runtime:
            return tuple(Transform(rotation_of_rpy(r[3:]), tuple(r[:3])) for r in self.table("transform"))
        return tuple(
            Transform(matrix(j.placement.rotation), vector(j.placement.translation)) for j in self.model.joints
        )

    def transform(self, i: int, q: Sequence[Real]) -> Transform:
        """Return the pose of body ``i`` in its parent body at configuration ``q``."""
        return self.placements[i] @ self.joint_transform(i, q)

    def joint_transform(self, i: int, q: Sequence[Real]) -> Transform:
        """Return the pose of body ``i`` in the frame of its joint at configuration ``q``."""
        joint = self.model.joints[i]
        own = q[joint.q_index : joint.q_index + joint.nq]
        if joint.kind == "floating":
            return Transform(rotation_of_quaternion(own[3:]), tuple(own[:3]))
        if joint.kind == "spherical":
            return Transform(rotation_of_quaternion(own), ZERO3)
        position = own[0] * joint.multiplier + joint.offset
        rotation, translation = IDENTITY3, ZERO3
        if joint.kind != "prismatic":
            rotation = rotation_about(joint.axis, position)
        if joint.kind == "prismatic" or joint.pitch != 0.0:
            travel = 1.0 if joint.kind == "prismatic" else joint.pitch
            translation = scale(vector(joint.axis), position * travel)
        return Transform(rotation, translation)

    def joint_motion(self, i: int, rates: Sequence[Real]) -> Motion:
        """Return ``S_i rates``, the motion of body ``i`` relative to its parent, in body axes."""
        total = Motion.zero()
        for slot, column in self.columns[i]:
            total = total + column * rates[slot]
        return total

    def damping_and_friction(self) -> tuple[list[Real], list[Real], list[Real]]:
        """Return viscous damping, Coulomb friction and tanh width per velocity slot."""
        model, nv = self.model, self.model.nv
        if "joint_dynamics" in self.settings.runtime:
            damping, friction, width_row, _ = self.table("joint_dynamics")
            return damping, friction, width_row
        width = self.settings.friction_width
        widths = [float(width)] * nv if isinstance(width, (int, float)) else [float(w) for w in width]
        return [float(x) for x in model.damping], [float(x) for x in model.friction], list(widths)

    @cached_property
    def armature(self) -> list[Real]:
        """Rotor inertia per velocity slot, which adds to the diagonal of the mass matrix; zero when baked."""
        if "joint_dynamics" in self.settings.runtime:
            return self.table("joint_dynamics")[3]
        return [0.0] * self.model.nv

    def joint_friction(self, qd: Sequence[Real]) -> tuple[list[Real], list[Real]]:
        """Return the torque that damping and friction take at rates ``qd``, and its slope along each rate.

        Zero without joint dynamics. The slope of sign friction is zero: it is not differentiable at rest.
        """
        nv = self.model.nv
        if not self.settings.joint_dynamics and "joint_dynamics" not in self.settings.runtime:
            return [0.0] * nv, [0.0] * nv
        torque, slope = [], []
        for v, damping, friction, width in zip(qd, *self.damping_and_friction()):
            frictionless = is_zero(friction)
            shape, rate = (0.0, 0.0) if frictionless else self._friction_shape(v, width)
            torque.append(damping * v + friction * shape)
            slope.append(damping + friction * rate)
        return torque, slope

    def _friction_shape(self, v: Real, width: Real) -> tuple[Real, Real]:
        if self.settings.friction_model == "sign":
            return select(less(v, 0.0), -1.0, select(less(0.0, v), 1.0, 0.0)), 0.0
        t = tanh(v / width)
        return t, (1.0 - t * t) / width
