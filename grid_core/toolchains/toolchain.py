"""What the builder asks of a compiler, whatever its target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Toolchain(Protocol):
    """A compiler that makes one unit from one source file."""

    def identity(self) -> dict[str, str]:
        """Return what decides the compiler's output, for keys: the same on two machines with the same compiler."""
        ...

    def flags(self, level: str) -> tuple[str, ...]:
        """Return the options for a target level; an unknown level is an :class:`~grid_core.errors.OptionError`."""
        ...

    def compile(
        self, source: Path, output: Path, *, level: str, include: Sequence[Path], log: Path, extra: Sequence[str] = ()
    ) -> None:
        """Compile ``source`` to ``output``, or raise :class:`~grid_core.errors.CompileError` and leave no output.

        Parameters
        ----------
        source, output : Path
            One source file; the shared object or device image to write. The folder of ``output`` exists.
        level : str
            Instruction-set level or architecture.
        include : sequence of Path
            Folders searched for headers.
        log : Path
            File that receives the command and all that the compiler prints.
        extra : sequence of str
            More options, after those of :meth:`flags`.
        """
        ...


def compiler_text(identity: Mapping[str, str]) -> str:
    """Return a compiler as people know it, ``"gcc (Debian 12.2.0-14) 12.2.0"``, from its identity."""
    lines = identity["version"].splitlines()
    release = next((line for line in lines if "release" in line), "") if identity["kind"] == "nvcc" else ""
    return f"{identity['kind']} {release or lines[0]}"
