"""The robot model: joints, bodies and frames in their final order.

Everything downstream (kernels, code generation, handles) reads this and nothing else. Joint ``i`` moves body ``i``;
parents come before children; fixed links are part of the body that carries them; mimic joints own no coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from grid_core.errors import ArgumentError, nearest
from grid_core.model import configuration, serialization
from grid_core.model.placement import Array, Placement, frozen

Column = tuple[float, float, float, float, float, float]
"""A motion-subspace column ``[angular; linear]`` in body axes."""

ROTARY = frozenset({"revolute", "continuous", "helical"})
"""Joint kinds with one coordinate that is an angle."""


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint that moves the body of the same index.

    Parameters
    ----------
    name : str
        As in the description; parts of a decomposed joint are ``name__sub0``, ``name__sub1``, ...
    kind : str
        ``"revolute"``, ``"continuous"``, ``"prismatic"``, ``"helical"``, ``"spherical"`` or ``"floating"``.
    parent : int
        Body that carries the joint; -1 is the world (the base link of a fixed robot).
    placement : Placement
        Joint frame in the parent body's frame, fixed links in between folded in.
    axis : tuple of float
        Unit axis in the joint frame; zeros for spherical and floating joints.
    pitch : float
        Advance of a helical joint, m/rad; 0 otherwise.
    q_index, nq, v_index, nv : int
        First slot and width in configuration and velocity. A mimic joint names its target's slots.
    multiplier, offset : float
        The joint's value is ``multiplier * q[q_index] + offset``; 1 and 0 unless ``mimic`` is set.
    mimic : str or None
        The independent joint that a mimic joint follows (chains are flattened).
    damping, friction : float
        As in the description: N m s/rad and N m, or N s/m and N.
    lower, upper : float
        Position limits, rad or m; infinite where there is none.
    velocity_limit, effort_limit : float
        Infinite where there is none.
    """

    name: str
    kind: str
    parent: int
    placement: Placement
    axis: tuple[float, float, float]
    pitch: float
    q_index: int
    nq: int
    v_index: int
    nv: int
    multiplier: float = 1.0
    offset: float = 0.0
    mimic: str | None = None
    damping: float = 0.0
    friction: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = np.inf

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Motion subspace ``S`` in body axes, one ``[angular; linear]`` column per rate (Featherstone 2008, sec. 3.5).

        A floating joint lists its linear columns first, in the order of its rates; a spherical joint its angular ones.
        """
        if self.kind == "floating":
            return tuple(_unit(k + 3) for k in range(3)) + tuple(_unit(k) for k in range(3))
        if self.kind == "spherical":
            return tuple(_unit(k) for k in range(3))
        x, y, z = self.axis
        if self.kind == "prismatic":
            return ((0.0, 0.0, 0.0, x, y, z),)
        return ((x, y, z, self.pitch * x, self.pitch * y, self.pitch * z),)


def _unit(slot: int) -> Column:
    a, b, c, d, e, f = (float(slot == k) for k in range(6))
    return (a, b, c, d, e, f)


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: the link that a joint moves, with every link fixed to it.

    Parameters
    ----------
    name : str
        The moved link.
    mass : float
        kg.
    first_moment : ndarray, shape (3,)
        ``m c`` in body axes, kg m, from the body origin.
    inertia : ndarray, shape (3, 3)
        Rotational inertia about the body **origin** in body axes, kg m^2.
    links : tuple of str
        The links it is made of, ``name`` first.
    """

    name: str
    mass: float
    first_moment: Array
    inertia: Array
    links: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_moment", frozen(self.first_moment))
        object.__setattr__(self, "inertia", frozen(self.inertia))

    @property
    def parameters(self) -> Array:
        """``[m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``, shape (10,), about the body origin in body axes."""
        upper = self.inertia[np.triu_indices(3)]
        return np.concatenate([[self.mass], self.first_moment, upper])


@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame: a joint (movable: its child link's frame) or a link; ``body`` -1 is the world."""

    name: str
    kind: str
    body: int
    placement: Placement


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A robot in its final order: depth first, children sorted by child link name, then joint name.

    Parameters
    ----------
    name : str
        Robot name.
    joints, bodies : tuple
        Same length and order; joint ``i`` moves body ``i``.
    frames : tuple of Frame
        Every joint and every link of the description.
    nq, nv : int
        Width of configuration and velocity.
    floating_base : bool
        Joint 0 is a free base that was asked for at load time.
    """

    name: str
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    nq: int
    nv: int
    floating_base: bool

    def __repr__(self) -> str:
        base = "floating" if self.floating_base else "fixed"
        return f"<Model {self.name!r}: {base} base, nq={self.nq}, nv={self.nv}, nb={self.nb}>"

    @property
    def nb(self) -> int:
        """Number of moving bodies, mimic joints included."""
        return len(self.bodies)

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions by the names that declared shapes use."""
        return {"nq": self.nq, "nv": self.nv, "nb": self.nb}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the movable joints; the index is the joint id."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def _children(self) -> dict[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {i: [] for i in range(-1, self.nb)}
        for i, joint in enumerate(self.joints):
            found[joint.parent].append(i)
        return {i: tuple(children) for i, children in found.items()}

    def children(self, i: int) -> tuple[int, ...]:
        """Bodies whose parent is body ``i`` (-1: the world), ascending."""
        return self._children[i]

    def ancestors(self, i: int) -> tuple[int, ...]:
        """Bodies from ``i`` (included) up to the root body; empty for -1."""
        path = []
        while i >= 0:
            path.append(i)
            i = self.joints[i].parent
        return tuple(path)

    def subtree(self, i: int) -> tuple[int, ...]:
        """Body ``i`` and everything that it carries, ascending."""
        inside = {i}
        for j in range(i + 1, self.nb):
            if self.joints[j].parent in inside:
                inside.add(j)
        return tuple(sorted(inside))

    def supports(self, i: int) -> tuple[int, ...]:
        """Velocity slots that move body ``i``, ascending and without repetition."""
        slots = {
            joint.v_index + k for joint in map(self.joints.__getitem__, self.ancestors(i)) for k in range(joint.nv)
        }
        return tuple(sorted(slots))

    @cached_property
    def leaf_joints(self) -> tuple[int, ...]:
        """Movable joints that carry no other movable joint, ascending: the default end effectors."""
        return tuple(i for i in range(self.nb) if not self._children[i])

    @cached_property
    def _frame_index(self) -> dict[str, Frame]:
        links = {frame.name: frame for frame in self.frames if frame.kind == "link"}
        return links | {frame.name: frame for frame in self.frames if frame.kind == "joint"}

    def frame(self, name: str) -> Frame:
        """The frame of a joint or link; a joint wins where both carry the name.

        Raises
        ------
        ArgumentError
            No joint or link has the name; the message suggests the nearest ones.
        """
        try:
            return self._frame_index[name]
        except KeyError:
            raise ArgumentError(
                f"robot {self.name!r} has no joint or link {name!r}{nearest(name, self._frame_index)}; its 'frames' "
                "are all that it has"
            ) from None

    @cached_property
    def configuration_layout(self) -> tuple[tuple[str, int, int, int, int], ...]:
        """Contiguous blocks ``(kind, q0, v0, nq, nv)``; kinds are ``euclidean``, ``floating`` and ``spherical``."""
        blocks: list[tuple[str, int, int, int, int]] = []
        for joint in self.joints:
            if joint.mimic is not None:
                continue
            kind = joint.kind if joint.kind in ("floating", "spherical") else "euclidean"
            if kind == "euclidean" and blocks and blocks[-1][0] == kind:
                _, q0, v0, nq, nv = blocks.pop()
                blocks.append((kind, q0, v0, nq + 1, nv + 1))
            else:
                blocks.append((kind, joint.q_index, joint.v_index, joint.nq, joint.nv))
        return tuple(blocks)

    @cached_property
    def coordinate_blocks(self) -> tuple[tuple[str, int, int, int, int], ...]:
        """One block ``(kind, q0, v0, nq, nv)`` per independent joint, ``scalar``, ``spherical`` or ``floating``."""
        wide = ("spherical", "floating")
        return tuple(
            (j.kind if j.kind in wide else "scalar", j.q_index, j.v_index, j.nq, j.nv) for j in self._independent
        )

    @cached_property
    def _independent(self) -> tuple[Joint, ...]:
        return tuple(joint for joint in self.joints if joint.mimic is None)

    @cached_property
    def lower(self) -> Array:
        """Lower position limits, shape (nq,); minus infinity where there is none (quaternions included)."""
        return frozen([joint.lower for joint in self._independent for _ in range(joint.nq)])

    @cached_property
    def upper(self) -> Array:
        """Upper position limits, shape (nq,)."""
        return frozen([joint.upper for joint in self._independent for _ in range(joint.nq)])

    @cached_property
    def velocity_limit(self) -> Array:
        """Velocity limits, shape (nv,), infinite where there is none."""
        return frozen([joint.velocity_limit for joint in self._independent for _ in range(joint.nv)])

    @cached_property
    def effort_limit(self) -> Array:
        """Effort limits, shape (nv,), infinite where there is none."""
        return frozen([joint.effort_limit for joint in self._independent for _ in range(joint.nv)])

    @cached_property
    def damping(self) -> Array:
        """Viscous damping per velocity slot, shape (nv,); mimic joints add theirs with weight ``multiplier``."""
        return self._folded("damping")

    @cached_property
    def friction(self) -> Array:
        """Dry friction per velocity slot, shape (nv,), folded like :attr:`damping`."""
        return self._folded("friction")

    def _folded(self, attribute: str) -> Array:
        total = np.zeros(self.nv)
        for joint in self.joints:
            total[joint.v_index : joint.v_index + joint.nv] += joint.multiplier * getattr(joint, attribute)
        return frozen(total)

    @cached_property
    def inertia_parameters(self) -> Array:
        """Inertial parameters of every body, shape (nb, 10), see :attr:`Body.parameters`."""
        return frozen(np.reshape([body.parameters for body in self.bodies], (self.nb, 10)))

    def neutral(self) -> Array:
        """The neutral configuration, shape (nq,): zeros and identity quaternions."""
        return configuration.neutral(self)

    def random(self, seed: int, n: int) -> Array:
        """``n`` reproducible configurations inside the limits, shape (n, nq); see :func:`configuration.random`."""
        return configuration.random(self, seed, n)

    def integrate(self, q: Any, v: Any) -> Array:
        """Retraction ``q (+) v``, shape (..., nq); see :func:`configuration.integrate`."""
        return configuration.integrate(self, q, v)

    def difference(self, q0: Any, q1: Any) -> Array:
        """Tangent from ``q0`` to ``q1``, shape (..., nv); see :func:`configuration.difference`."""
        return configuration.difference(self, q0, q1)

    def to_json(self) -> str:
        """The model as JSON text, exact to the last bit and the same for the same model."""
        return serialization.dump(self)

    @classmethod
    def from_json(cls, text: str) -> Model:
        """The model that :meth:`to_json` wrote."""
        return serialization.load(text)
