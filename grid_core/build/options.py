"""The options of a build, checked once and brought to one canonical form, so that equal builds have equal keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from grid_core.errors import OptionError
from grid_core.kernel.settings import TraceSettings
from grid_core.kernel.tables import TABLES

DTYPES = ("float32", "float64")
FRICTION_MODELS = ("sign", "tanh")
DEFAULT_FRICTION_WIDTH = 0.03


@dataclass(frozen=True)
class BuildOptions:
    """What changes generated code, beside the description and the algorithm.

    Attributes
    ----------
    floating_base : bool
        Free the root link.
    follow_mimic : bool
        Mimic joints own no coordinate.
    dtype : str
        ``"float32"`` or ``"float64"``.
    settings : TraceSettings
        Joint dynamics and run-time parameters.
    """

    floating_base: bool = False
    follow_mimic: bool = True
    dtype: str = "float32"
    settings: TraceSettings = field(default_factory=TraceSettings)

    def to_json(self) -> dict[str, Any]:
        """Return the options as plain JSON values, in a fixed order."""
        values = asdict(self)
        settings = values["settings"]
        settings["runtime"] = sorted(self.settings.runtime)
        values["settings"] = {name: list(v) if isinstance(v, tuple) else v for name, v in settings.items()}
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> BuildOptions:
        settings: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in values["settings"].items()
        }
        settings["runtime"] = frozenset(settings["runtime"])
        return cls(values["floating_base"], values["follow_mimic"], values["dtype"], TraceSettings(**settings))


def make_options(
    *,
    floating_base: bool = False,
    follow_mimic: bool = True,
    dtype: str = "float32",
    use_joint_dynamics: bool = False,
    friction_model: str = "sign",
    friction_width: float | Sequence[float] | None = None,
    runtime: Iterable[str] = (),
    end_effectors: Iterable[str] = (),
    contact_frames: Iterable[str] = (),
    cost_frames: Iterable[str] = (),
    cost_features: Sequence[int] | None = None,
) -> BuildOptions:
    """Check user options and return them in canonical form.

    Raises
    ------
    OptionError
        An option has a value outside its set, or contradicts another.
    """
    if dtype not in DTYPES:
        raise OptionError(f"dtype is {dtype!r}, expected one of {', '.join(DTYPES)}")
    if friction_model not in FRICTION_MODELS:
        raise OptionError(f"friction_model is {friction_model!r}, expected one of {', '.join(FRICTION_MODELS)}")
    use_joint_dynamics = flag(use_joint_dynamics, "use_joint_dynamics")
    tables = frozenset(runtime)
    if unknown := tables - set(TABLES):
        raise OptionError(f"there is no run-time table {min(unknown)!r}; tables: {', '.join(TABLES)}")
    frictionless = not use_joint_dynamics and "joint_dynamics" not in tables
    if frictionless and (friction_model != "sign" or friction_width is not None):
        raise OptionError(
            "friction_model and friction_width describe joint friction; set use_joint_dynamics=True to model it"
        )
    if friction_width is not None and friction_model != "tanh":
        raise OptionError("friction_width is the width of smooth friction; set friction_model='tanh' or leave it out")
    settings = TraceSettings(
        use_joint_dynamics,
        friction_model,
        _width(friction_width),
        tables,
        distinct(end_effectors, "ee_joint_names"),
        distinct(contact_frames, "contact_frames"),
        distinct(cost_frames, "cost_frames"),
        _rows(cost_features),
    )
    return BuildOptions(flag(floating_base, "floating_base"), flag(follow_mimic, "follow_mimic"), dtype, settings)


def _width(value: Any) -> float | tuple[float, ...]:
    if value is None:
        return DEFAULT_FRICTION_WIDTH
    several = np.ndim(value) > 0
    try:
        widths = tuple(float(v) for v in (value if several else [value]))
    except (TypeError, ValueError):
        widths = (math.nan,)
    for width in widths:
        if not (math.isfinite(width) and width > 0.0):
            raise OptionError(f"friction_width is {value!r}, expected positive finite numbers (rad/s, m/s)")
    return widths if several else widths[0]


def _rows(value: Any) -> tuple[int, int] | None:
    """Return the rows of the linear features of the state and of the input."""
    if value is None:
        return None
    rows = tuple(value) if isinstance(value, Sequence) else (value,)
    if len(rows) != 2 or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in rows):
        raise OptionError(
            f"cost_features is {value!r}, expected two whole numbers of at least 1: the rows of the linear features of "
            "the state and of the input"
        )
    return rows[0], rows[1]


def distinct(names: Iterable[str], option: str) -> tuple[str, ...]:
    """Return names in order; each may occur once."""
    found = tuple(names)
    for name in found:
        if found.count(name) > 1:
            raise OptionError(f"{option} has {name!r} twice; name each frame once")
    return found


def flag(value: Any, option: str) -> bool:
    """Return an option that is on or off; anything but a truth value is refused, ``"no"`` above all."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{option} is {value!r}, expected True or False")
    return bool(value)
