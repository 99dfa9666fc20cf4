"""What the builder asks of a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from grid_core.build.options import BuildOptions
from grid_core.plugins.algorithm import Algorithm

if TYPE_CHECKING:
    from grid_core.build.compilers import Compiler
    from grid_core.model import Model


@dataclass(frozen=True)
class UnitInputs:
    """What the source of a unit follows from.

    Attributes
    ----------
    algorithm : Algorithm
    model : Model
        The robot.
    algorithms : mapping of str to Algorithm
        Every declared algorithm by name, for those that this one calls.
    options : BuildOptions
    folders : sequence of str
        Template folders of the plugins involved.
    level : str
        Instruction set, see :func:`~grid_core.build.targets.target_of`.
    """

    algorithm: Algorithm
    model: Model
    algorithms: Mapping[str, Algorithm]
    options: BuildOptions
    folders: Sequence[str]
    level: str


class Target(ABC):
    """A kind of machine that units are compiled for.

    Attributes
    ----------
    name : str
        In keys and messages.
    source, unit : str
        File names of a unit's source and of what the compiler makes of it.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    unit: ClassVar[str]

    @abstractmethod
    def identity(self, level: str) -> str:
        """Return what names a level in keys.

        Raises
        ------
        OptionError
            The level is unknown.
        """

    @abstractmethod
    def runs_here(self, level: str) -> bool:
        """Tell whether this machine executes units of the level."""

    @abstractmethod
    def find_compiler(self, override: str | None, known: Sequence[str]) -> Compiler:
        """Return a working compiler; ``known`` are records of earlier ones, which need not be probed again."""

    @abstractmethod
    def render(self, inputs: UnitInputs) -> dict[str, str]:
        """Return the text files of a unit by name: its source, and what goes beside the compiled file."""

    @abstractmethod
    def check_loadable(self, unit: Path, level: str) -> None:
        """Open a compiled unit before it is published, if this machine can; raise ``CompileError`` if that fails."""
