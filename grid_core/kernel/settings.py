"""Build options that change the traced maths, as opposed to the target it is compiled for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grid_core.errors import ArgumentError

if TYPE_CHECKING:
    from grid_core.model import Frame, Model


@dataclass(frozen=True)
class TraceSettings:
    """Options of one robot build.

    Attributes
    ----------
    joint_dynamics : bool
        Model viscous damping and Coulomb friction of the description.
    friction_model : str
        ``"sign"`` or ``"tanh"``.
    friction_width : float or tuple of float
        Width ``w`` of ``tanh(qd / w)``, one value or one per velocity slot.
    runtime : frozenset of str
        Parameter tables that are inputs instead of constants: keys of :data:`grid_core.kernel.tables.TABLES`.
    end_effectors : tuple of str
        Frames that count as end effectors, in this order; empty: those of the leaf joints.
    contact_frames : tuple of str
        Frames at which contact wrenches act, in this order.
    cost_frames : tuple of str
        Frames that costs follow, in this order, after the first end effector.
    cost_features : tuple of int, or None
        Rows of the linear features of the state and of the input in costs; as many as columns unless given.
    """

    joint_dynamics: bool = False
    friction_model: str = "sign"
    friction_width: float | tuple[float, ...] = 0.03
    runtime: frozenset[str] = frozenset()
    end_effectors: tuple[str, ...] = ()
    contact_frames: tuple[str, ...] = ()
    cost_frames: tuple[str, ...] = ()
    cost_features: tuple[int, int] | None = None

    def end_effector_frames(self, model: Model) -> tuple[Frame, ...]:
        """Return the frames of the end effectors.

        Raises
        ------
        ArgumentError
            The robot has no frame of that name.
        """
        names = self.end_effectors or tuple(model.joints[i].name for i in model.leaf_joints)
        return _frames(model, names, "ee_joint_names")

    def contacts(self, model: Model) -> tuple[Frame, ...]:
        """Return the frames of the contacts.

        Raises
        ------
        ArgumentError
            The robot has no frame of that name.
        """
        return _frames(model, self.contact_frames, "contact_frames")

    def cost_targets(self, model: Model) -> tuple[Frame, ...]:
        """Return the frames that costs follow: the first end effector, then :attr:`cost_frames`.

        On a robot that cannot move its root link stands in for the end effector.

        Raises
        ------
        ArgumentError
            The robot has no frame of that name.
        """
        first = (self.end_effector_frames(model) or model.frames)[0]
        return (first, *_frames(model, self.cost_frames, "cost_frames"))


def _frames(model: Model, names: Iterable[str], option: str) -> tuple[Frame, ...]:
    try:
        return tuple(model.frame(name) for name in names)
    except ArgumentError as error:
        raise ArgumentError(f"{option}: {error}") from None


def dimensions(model: Model, settings: TraceSettings) -> dict[str, int]:
    """Return the dimensions that declared shapes use.

    Those of the model, the width ``nx`` of a state ``[q; qd]``, ``nee`` end effectors, ``nf`` frames, ``nc`` contacts.
    Of costs: ``nu`` actuated inputs, which a free base has none of, ``nl`` coordinates that simply add, ``mx`` rows of
    the linear features of the state, ``mu`` of those of the input.
    """
    ends = len(settings.end_effectors) or len(model.leaf_joints)
    added = sum(kind == "scalar" for kind, *_ in model.coordinate_blocks)
    actuated = model.nv - 6 * model.floating_base
    rows = settings.cost_features or (added + model.nv, actuated)
    return {
        **model.dims,
        "nx": model.nq + model.nv,
        "nee": ends,
        "nf": len(model.frames),
        "nc": len(settings.contact_frames),
        "nu": actuated,
        "nl": added,
        "mx": rows[0],
        "mu": rows[1],
    }
