"""Build options that change the traced maths, as opposed to the target it is compiled for."""

from __future__ import annotations

from dataclasses import dataclass


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
        Parameter tables that are inputs instead of constants: ``"inertia"``, ``"transform"``, ``"joint_dynamics"``.
    """

    joint_dynamics: bool = False
    friction_model: str = "sign"
    friction_width: float | tuple[float, ...] = 0.03
    runtime: frozenset[str] = frozenset()
