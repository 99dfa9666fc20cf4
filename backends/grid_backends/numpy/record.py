"""What a NumPy handle is made of: the robot, the declared algorithms, and where their functions come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from grid_backends.numpy.signature import Signature
from grid_core.errors import OptionError
from grid_core.kernel.settings import TraceSettings, dimensions
from grid_core.kernel.tables import table_inputs
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm

Call = Callable[..., Any]
"""``call(arguments, out, *where)``: one entry per declared input; the result, or ``NotImplemented`` for arguments that
have to be normalised first (see :mod:`grid_backends.numpy.arguments`). ``where`` is the number of threads on a CPU, and
a stream before that on a GPU. ``call.set_batch_last(bool)`` says how new results lie in memory."""

DTYPES = ("float32", "float64")


class FunctionProvider(Protocol):
    """Gives the function of an algorithm when it is called for the first time."""

    def get(self, name: str, /) -> Call | None:
        """Return the function, or ``None`` if this robot entry does not hold the algorithm."""


@dataclass(frozen=True)
class RobotRecord:
    """A robot entry.

    Parameters
    ----------
    name : str
        Name of the handle.
    model : Model
        The robot.
    declarations : mapping of str to Algorithm
        Every algorithm that the installed plugins declare, by name.
    algorithms : tuple of str
        Those that the entry holds.
    dtype : str
        ``"float32"`` or ``"float64"``: what methods take and return.
    device : str
        Where it runs, as given at registration.
    settings : TraceSettings
        Options of the build that change shapes and inputs: end effectors, contacts, run-time tables.
    max_batch : int
        Largest batch the entry was registered for; the CPU has no limit.
    facts : mapping
        More about the build, for ``meta``.
    """

    name: str
    model: Model
    declarations: Mapping[str, Algorithm]
    algorithms: tuple[str, ...]
    dtype: str = "float32"
    device: str = "cpu"
    settings: TraceSettings = field(default_factory=TraceSettings)
    max_batch: int = 256
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise OptionError(f"robot {self.name!r}: dtype is {self.dtype!r}, expected one of {DTYPES}")

    @cached_property
    def signatures(self) -> dict[str, Signature]:
        """The declared algorithms with this robot's dimensions, by name."""
        dtype, tables = np.dtype(self.dtype), table_inputs(self.settings)
        return {name: Signature(algorithm, self.dims, dtype, tables) for name, algorithm in self.declarations.items()}

    @cached_property
    def dims(self) -> dict[str, int]:
        """Dimensions by the names that declared shapes use."""
        return dimensions(self.model, self.settings)
