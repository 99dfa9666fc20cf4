"""The C++ compiler of the CPU target, g++ or clang++."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grid_core.toolchains.levels import level_flags
from grid_core.toolchains.project import ProjectCompiler
from grid_core.toolchains.step import run_step

CODE = ("-std=c++17", "-O2", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
"""Options of all code. Finite math is never assumed: NaN and infinity must behave as documented."""

FLAGS = (*CODE, "-shared", "-fvisibility=hidden")
"""Options of every unit."""


@dataclass(frozen=True)
class CxxCompiler:
    """A C++17 compiler that works; :func:`~grid_core.toolchains.search.find_compiler` makes them.

    Parameters
    ----------
    command : tuple of str
        Absolute path, and what ``CXX`` has behind it (``ccache g++``, ``g++ -m64``).
    version : str
        Full text of ``--version``.
    target : str
        Machine that it compiles for, ``x86_64-linux-gnu``.
    stamp : str
        :func:`~grid_core.toolchains.search.stamp` of the command when it was probed.
    """

    command: tuple[str, ...]
    version: str
    target: str
    stamp: str

    @property
    def path(self) -> Path:
        return Path(self.command[0])

    @property
    def kind(self) -> str:
        """``"gcc"`` or ``"clang"``."""
        return "clang" if "clang" in self.version else "gcc"

    def identity(self) -> dict[str, str]:
        """Return kind, version, target and added options; not where the compiler is installed and under what name."""
        where = ("InstalledDir:", "Configuration file:")
        lines = [line for line in self.version.splitlines() if not line.startswith(where)]
        if self.kind == "gcc":
            lines[0] = lines[0].partition(" ")[2]
        options = shlex.join(word for word in self.command[1:] if word.startswith("-"))
        return {"kind": self.kind, "version": "\n".join(lines), "target": self.target, "options": options}

    def flags(self, level: str) -> tuple[str, ...]:
        """Return the compiler options for an instruction-set level of :mod:`~grid_core.toolchains.levels`."""
        return (*FLAGS, *level_flags(level))

    def compile(
        self, source: Path, output: Path, *, level: str, include: Sequence[Path], log: Path, extra: Sequence[str] = ()
    ) -> None:
        """Compile one file to a shared object; see :meth:`grid_core.toolchains.toolchain.Toolchain.compile`.

        The compiler runs in the source's folder and is given the bare file name, so that equal sources make equal
        objects wherever they are staged.
        """
        folders = [f"-I{folder.absolute()}" for folder in include]
        command = [*self.command, *self.flags(level), *folders, source.name, "-o", str(output.absolute()), *extra]
        run_step(command, cwd=source.parent, log=log, output=output, subject=source.name)

    def project(self, level: str) -> ProjectCompiler:
        """Return the compiler for the sources of a project, for an instruction-set level."""
        return ProjectCompiler(self.command, (*CODE, *level_flags(level)), ("-shared",))

    def to_json(self) -> str:
        """Return a record for :meth:`from_json`, to be kept between processes."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> CxxCompiler:
        """Restore a compiler from its record. Whether it is still the same one is for the search to say."""
        record = json.loads(text)
        return cls(tuple(record["command"]), record["version"], record["target"], record["stamp"])
