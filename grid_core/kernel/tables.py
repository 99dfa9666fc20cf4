"""Parameter tables of a robot that a build may take at run time instead of baking the description's values.

Every algorithm of such a build has the table as one more optional input, shared by a batch or one per sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.algorithm import Absent, Input

if TYPE_CHECKING:
    from grid_core.model import Model

Values = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """One table.

    Parameters
    ----------
    input : Input
        Its name and shape, as every algorithm takes it.
    described : callable
        ``described(model, settings)`` gives the values of the description, float64.
    """

    input: Input
    described: Callable[[Model, TraceSettings], Values]


def _inertia(model: Model, settings: TraceSettings) -> Values:  # noqa: ARG001
    return np.array(model.inertia_parameters)


def _transform(model: Model, settings: TraceSettings) -> Values:  # noqa: ARG001
    rows = [[*j.placement.translation, *_rpy(j.placement.rotation)] for j in model.joints]
    return np.reshape(np.array(rows, np.float64), (model.nb, 6))


def _joint_dynamics(model: Model, settings: TraceSettings) -> Values:
    modelled = settings.joint_dynamics
    rest = np.zeros(model.nv)
    width = np.broadcast_to(np.asarray(settings.friction_width, np.float64), (model.nv,))
    return np.stack([model.damping if modelled else rest, model.friction if modelled else rest, width, rest])


def _rpy(rotation: Values) -> Values:
    """Return roll, pitch and yaw with ``rotation = Rz(yaw) Ry(pitch) Rx(roll)``; at pitch +-90 degrees yaw is 0."""
    cosine = np.hypot(rotation[0, 0], rotation[1, 0])
    pitch = np.arctan2(-rotation[2, 0], cosine)
    if cosine < 1e-12:
        return np.array([np.arctan2(-rotation[1, 2], rotation[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(rotation[2, 1], rotation[2, 2]), pitch, np.arctan2(rotation[1, 0], rotation[0, 0])])


def _table(name: str, shape: tuple[str, ...], doc: str, described: Callable[[Model, TraceSettings], Values]) -> Table:
    return Table(Input(name, shape, doc, absent=Absent.ZERO, keyword_only=True), described)


TABLES = {
    "inertia": _table(
        "inertia_params",
        ("nb", "10"),
        "inertial parameters of each body, [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], first moment and inertia "
        "about the body origin in body axes (kg, kg m, kg m^2)",
        _inertia,
    ),
    "transform": _table(
        "transform_params",
        ("nb", "6"),
        "pose of each joint frame in the parent body, [x, y, z, roll, pitch, yaw] (m, rad)",
        _transform,
    ),
    "joint_dynamics": _table(
        "joint_dynamics_params",
        ("4", "nv"),
        "viscous damping, Coulomb friction, width of tanh friction and rotor inertia (armature) per velocity slot",
        _joint_dynamics,
    ),
}
"""Option -> table; the option is an entry of :attr:`TraceSettings.runtime`."""


def tables_of(settings: TraceSettings) -> tuple[Table, ...]:
    """Return the tables that a build takes at run time."""
    return tuple(table for option, table in TABLES.items() if option in settings.runtime)


def table_inputs(settings: TraceSettings) -> tuple[Input, ...]:
    """Return the inputs that every algorithm of a build has beside its own."""
    return tuple(table.input for table in tables_of(settings))


def described_values(tables: Iterable[Table], model: Model, settings: TraceSettings) -> dict[str, Values]:
    """Return the description's values of some tables by input name, float64."""
    return {table.input.name: table.described(model, settings) for table in tables}
