"""Parameter tables of a handle that may change between calls, and the tool that it carries."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grid_backends.errors import BuildOptionError
from grid_backends.numpy.arguments import as_real
from grid_backends.numpy.record import RobotRecord
from grid_backends.numpy.tools import tool_of
from grid_core.errors import ArgumentError
from grid_core.kernel.tables import TABLES, described_values, tables_of
from grid_core.keywords import closed_keywords
from grid_core.model import Frame, UnphysicalInertiaWarning
from grid_core.model.description import MAGNITUDE
from grid_core.model.findings import user_level
from grid_core.model.physical import broken_rule
from grid_core.plugins.robot_view import Tool

Array = NDArray[Any]

ROWS = ("damping", "friction", "friction_width", "armature")
"""Rows of the table of joint dynamics."""


class ParameterTables:
    """The run-time tables of one handle: the values of the description, until they are set.

    Values are replaced as a whole, never changed in place: a call in progress keeps those that it began with.

    Attributes
    ----------
    lock : RLock
        Held while values change; hold it to read and then set them.
    arrays : dict of str to ndarray
        Input name -> values in the dtype of the build, for the tables that the build takes at run time.
    version : int
        Grows by one with every change.
    tool : Tool or None
        Its inertia is part of the inertia table.
    """

    def __init__(self, record: RobotRecord) -> None:
        self._record = record
        self.lock = threading.RLock()
        self._values: dict[str, Array] = described_values(TABLES.values(), record.model, record.settings)
        self.version = 1
        self.tool: Tool | None = None
        self.arrays: dict[str, Array] = {}
        self._watchers: list[Callable[[], None]] = []
        for table in tables_of(record.settings):
            self._publish(table.input.name)

    def values(self, option: str) -> Array:
        """Return a copy of the current values of a table, float64, those of an attached tool included."""
        name = TABLES[option].input.name
        values: Array = self._values[name].copy()
        if option == "inertia" and self.tool is not None:
            values[self.tool.body] += self.tool.inertia
        return values

    def set(self, option: str, values: Array) -> None:
        """Replace a table; values of inertia contain those of an attached tool, as :meth:`values` gives them."""
        with self.lock:
            own = values.copy()
            if option == "inertia" and self.tool is not None:
                own[self.tool.body] -= self.tool.inertia
            self._values[TABLES[option].input.name] = own
            self._changed(option)

    def attach(self, tool: Tool | None) -> None:
        """Carry a tool, in place of another one, or none."""
        with self.lock:
            self.tool = tool
            self._changed("inertia")

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call a function after every change."""
        self._watchers.append(watcher)

    def check_runtime(self, option: str, method: str) -> None:
        """Raise unless the build takes a table at run time."""
        if option not in self._record.settings.runtime:
            raise BuildOptionError(
                f"robot {self._record.name!r}: {method} needs a build whose {option.replace('_', ' ')} table is "
                f"taken at run time; register it with runtime_{option}=True"
            )

    def _changed(self, option: str) -> None:
        self._publish(TABLES[option].input.name, self.values(option))
        self.version += 1
        for watcher in self._watchers:
            watcher()

    def _publish(self, name: str, values: Array | None = None) -> None:
        array = np.array(self._values[name] if values is None else values, self._record.dtype)
        array.flags.writeable = False
        self.arrays[name] = array


class ParameterMethods:
    """What handles offer to read and to change parameter tables and the tool."""

    _record: RobotRecord
    _parameters: ParameterTables

    @property
    def model_version(self) -> int:
        """1, and one more for every change of run-time parameters."""
        return self._parameters.version

    @property
    def runtime_inertia(self) -> bool:
        """Whether the inertia table can be set."""
        return "inertia" in self._record.settings.runtime

    @property
    def runtime_transform(self) -> bool:
        """Whether the table of joint frames can be set."""
        return "transform" in self._record.settings.runtime

    @property
    def runtime_joint_dynamics(self) -> bool:
        """Whether damping, friction and armature can be set."""
        return "joint_dynamics" in self._record.settings.runtime

    @property
    def friction_model(self) -> str:
        """``"sign"`` or ``"tanh"``: the shape of Coulomb friction."""
        return self._record.settings.friction_model

    @property
    def inertia_params(self) -> Array:
        """A copy of the current inertial parameters, shape (nb, 10), float64, an attached tool included.

        Rows are ``[m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``, first moment and inertia about the body origin in
        body axes (kg, kg m, kg m^2).
        """
        return self._parameters.values("inertia")

    @closed_keywords
    def set_inertia_params(self, params: ArrayLike) -> None:
        """Replace the inertial parameters of all bodies; shape (nb, 10) or flat, as :attr:`inertia_params` gives them.

        Parameters that no rigid body has are used, since estimates of identification may pass them, with an
        ``UnphysicalInertiaWarning`` that names body and rule.

        Raises
        ------
        BuildOptionError
            The robot was not built with ``runtime_inertia=True``.
        ArgumentError
            The shape does not fit, or a value is not finite or beyond 1e9 in magnitude.
        """
        method = "set_inertia_params"
        values = self._checked("inertia", method, params)
        for joint, row in zip(self._record.model.joint_names, values):
            _warn_if_unphysical(row, f"{method}: the body that {joint!r} moves")
        self._parameters.set("inertia", values)

    @property
    def transform_params(self) -> Array:
        """A copy of the current joint frames in their parent bodies, shape (nb, 6), float64.

        Rows are ``[x, y, z, roll, pitch, yaw]`` (m, rad); fixed joints between two movable ones are part of them.
        """
        return self._parameters.values("transform")

    @closed_keywords
    def set_transform_params(self, params: ArrayLike) -> None:
        """Replace the joint frames; shape (nb, 6) or flat, as :attr:`transform_params` gives them.

        Dynamics and kinematics both follow.

        Raises
        ------
        BuildOptionError
            The robot was not built with ``runtime_transform=True``.
        ArgumentError
            The shape does not fit, or a value is not finite or beyond 1e9 in magnitude.
        """
        self._parameters.set("transform", self._checked("transform", "set_transform_params", params))

    @property
    def joint_damping(self) -> Array:
        """A copy of the current viscous damping per velocity slot, shape (nv,) (N m s/rad, N s/m)."""
        return self._joint_row(0)

    @property
    def joint_friction(self) -> Array:
        """A copy of the current Coulomb friction per velocity slot, shape (nv,) (N m, N)."""
        return self._joint_row(1)

    @property
    def joint_friction_width(self) -> Array:
        """A copy of the current widths ``w`` of ``tanh(qd / w)`` per velocity slot, shape (nv,) (rad/s, m/s).

        Raises
        ------
        BuildOptionError
            The robot was not built with ``friction_model="tanh"``.
        """
        self._check_smooth("joint_friction_width")
        return self._joint_row(2)

    @property
    def joint_armature(self) -> Array:
        """A copy of the current rotor inertia per velocity slot, shape (nv,) (kg m^2, kg)."""
        return self._joint_row(3)

    @closed_keywords
    def set_joint_dynamics(
        self,
        damping: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        friction_width: ArrayLike | None = None,
        armature: ArrayLike | None = None,
    ) -> None:
        """Set damping, friction, width and rotor inertia per velocity slot; what is left out keeps its current values.

        Parameters
        ----------
        damping, friction, friction_width, armature : array_like, shape (nv,), optional
            A number stands for all slots.

        Raises
        ------
        BuildOptionError
            The robot was not built with ``runtime_joint_dynamics=True``, or a width is given for sign friction.
        ArgumentError
            The shape does not fit, a value is not finite or beyond 1e9 in magnitude, or a width is not positive.
        """
        self._parameters.check_runtime("joint_dynamics", "set_joint_dynamics")
        if friction_width is not None:
            self._check_smooth("friction_width")
        given: Mapping[str, ArrayLike | None] = dict(zip(ROWS, (damping, friction, friction_width, armature)))
        with self._parameters.lock:
            values = self._parameters.values("joint_dynamics")
            for row, (name, value) in enumerate(given.items()):
                if value is not None:
                    values[row] = self._row(name, value, len(values[row]))
            self._parameters.set("joint_dynamics", values)

    @closed_keywords
    def attach_tool(
        self,
        joint: str,
        *,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        tip_transform: ArrayLike | None = None,
    ) -> None:
        """Weld a rigid tool or payload to the link that a joint moves, in place of the one before.

        Its inertia adds to the current inertia table; :meth:`detach_tool` takes it away again. An inertia that no rigid
        body has is used with an ``UnphysicalInertiaWarning``.

        Parameters
        ----------
        joint : str
            Name of a movable or fixed joint; tool quantities are in its frame.
        mass : float
            kg.
        com : array_like, shape (3,)
            Centre of mass, m.
        inertia : array_like, shape (3, 3) or (6,), optional
            Rotational inertia about the tool's centre of mass, ``[xx, xy, xz, yy, yz, zz]`` if flat, kg m^2.
        tip_transform : array_like, shape (4, 4), optional
            Pose of the tip: end-effector calls that name no target report it, and :meth:`tool_fext` acts there.

        Raises
        ------
        BuildOptionError
            The robot was not built with ``runtime_inertia=True`` (which ``enable_tool=True`` sets).
        ArgumentError
            There is no such joint, it does not move, or a value does not fit.
        """
        self._parameters.check_runtime("inertia", "attach_tool")
        tool = tool_of(self._record.model, joint, mass, com, inertia, tip_transform)
        _warn_if_unphysical(tool.inertia, "attach_tool: the tool")
        self._parameters.attach(tool)

    def detach_tool(self) -> None:
        """Take the tool away; the inertia table is as it was without it. Nothing happens if there is none."""
        if self._parameters.tool is not None:
            self._parameters.attach(None)

    @property
    def tool(self) -> dict[str, Any] | None:
        """The attached tool: ``joint``, ``row`` of the inertia table, and ``Xtool``, the pose of its tip or None."""
        tool = self._parameters.tool
        if tool is None:
            return None
        pose = None
        if tool.tip is not None:
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = tool.tip.rotation, tool.tip.translation
        return {"joint": tool.joint, "row": tool.body, "Xtool": pose}

    @property
    def contact_frames(self) -> list[dict[str, Any]] | None:
        """The contact frames in the order of ``contact_fext``: ``name``, ``jid`` of the body, ``offset`` in it (m)."""
        return _described(self._record.settings.contacts(self._record.model))

    @property
    def cost_frames(self) -> list[dict[str, Any]] | None:
        """The frames that were named for costs, described likewise; the first end effector comes before them."""
        return _described(self._record.settings.cost_targets(self._record.model)[1:])

    def _joint_row(self, row: int) -> Array:
        found: Array = self._parameters.values("joint_dynamics")[row]
        return found

    def _checked(self, option: str, method: str, params: ArrayLike) -> Array:
        """Return a table that may be set, with its shape."""
        self._parameters.check_runtime(option, method)
        shape = self._parameters.values(option).shape
        values = as_real(params, f"{method}: params", np.dtype(np.float64)).astype(np.float64)
        if values.shape not in (shape, (shape[0] * shape[1],)):
            raise ArgumentError(f"{method}: params has shape {values.shape}, expected {shape} or {shape[0] * shape[1]}")
        return _bounded(values.reshape(shape), f"{method}: params")

    def _row(self, name: str, value: ArrayLike, size: int) -> Array:
        what = f"set_joint_dynamics: {name}"
        row = as_real(value, what, np.dtype(np.float64)).astype(np.float64)
        if row.shape not in ((), (size,)):
            raise ArgumentError(f"{what} has shape {row.shape}, expected ({size},), one value per velocity slot")
        if name == "friction_width" and not np.all(row > 0.0):
            raise ArgumentError(f"{what} is {row.tolist()}, expected positive values (rad/s, m/s)")
        return _bounded(row, what)

    def _check_smooth(self, what: str) -> None:
        if self.friction_model != "tanh":
            raise BuildOptionError(
                f"robot {self._record.name!r}: {what} belongs to smooth friction, and this build has "
                f"{self.friction_model!r} friction; register it with use_joint_dynamics=True and friction_model='tanh'"
            )


def _warn_if_unphysical(parameters: Array, what: str) -> None:
    """Warn, where the user called, of inertial parameters that no rigid body has."""
    if (rule := broken_rule(parameters)) is not None:
        warnings.warn(f"{what}: {rule}; it is used as given", UnphysicalInertiaWarning, stacklevel=user_level())


def _bounded(values: Array, what: str) -> Array:
    beyond = np.argwhere(~(np.abs(values) <= MAGNITUDE))
    if len(beyond):
        index = tuple(beyond[0].tolist())
        raise ArgumentError(
            f"{what} is {values[index]} at {index}; model parameters are finite, at most {MAGNITUDE:g} in magnitude"
        )
    return values


def _described(frames: Sequence[Frame]) -> list[dict[str, Any]] | None:
    return [{"name": f.name, "jid": f.body, "offset": f.placement.translation.tolist()} for f in frames] or None
