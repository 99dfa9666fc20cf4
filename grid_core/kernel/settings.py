"""Build options that change the traced maths, as opposed to the target it is compiled for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """

    joint_dynamics: bool = False
    friction_model: str = "sign"
    friction_width: float | tuple[float, ...] = 0.03
    runtime: frozenset[str] = frozenset()
    end_effectors: tuple[str, ...] = ()
    contact_frames: tuple[str, ...] = ()

    def end_effector_frames(self, model: Model) -> tuple[Frame, ...]:
        """Return the frames of the end effectors.

        Raises
        ------
        ArgumentError
            The robot has no frame of that name.
        """
        names = self.end_effectors or tuple(model.joints[i].name for i in model.leaf_joints)
        return tuple(model.frame(name) for name in names)

    def contacts(self, model: Model) -> tuple[Frame, ...]:
        """Return the frames of the contacts.

        Raises
        ------
        ArgumentError
            The robot has no frame of that name.
        """
        return tuple(model.frame(name) for name in self.contact_frames)


def dimensions(model: Model, settings: TraceSettings) -> dict[str, int]:
    """Return the dimensions that declared shapes use.

    Those of the model, the width ``nx`` of a state ``[q; qd]``, ``nee`` end effectors, ``nf`` frames, ``nc`` contacts.
    """
    ends = len(settings.end_effectors) or len(model.leaf_joints)
    state = model.nq + model.nv
    return {**model.dims, "nx": state, "nee": ends, "nf": len(model.frames), "nc": len(settings.contact_frames)}
