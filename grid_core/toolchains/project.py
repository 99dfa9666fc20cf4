"""Compiling the sources of a project, which are several and include what they like, and linking them.

The compiler itself says what a source includes, so that nothing has to guess how it searches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grid_core.errors import CompileError
from grid_core.toolchains.step import run_step
from grid_core.toolchains.workers import compiler_slot

OBJECT = "unit.o"
LIST = "unit.d"
TEXT = "unit.i"


@dataclass(frozen=True)
class ProjectCompiler:
    """A compiler with the options for one machine.

    Sources are compiled where they are. Everything is written to a working folder, logs included.

    Parameters
    ----------
    command : tuple of str
        The compiler.
    code, link : tuple of str
        Options for each source, and for the library.
    """

    command: tuple[str, ...]
    code: tuple[str, ...]
    link: tuple[str, ...]

    def scan(self, source: Path, options: Sequence[str], work: Path) -> list[Path]:
        """Return the files that compiling a source reads, itself first, system headers included.

        Raises
        ------
        CompileError
            One of them does not exist, or the preprocessor found a mistake.
        """
        self._step(work, "scan.log", LIST, source.name, *self.code, *options, "-M", "-MF", LIST, str(source))
        return files_read(work / LIST)

    def preprocessed(self, source: Path, options: Sequence[str], work: Path) -> bytes:
        """Return what the preprocessor makes of a source, without the lines that say where each part comes from."""
        self._step(work, "expand.log", TEXT, source.name, *self.code, *options, "-E", str(source), "-o", TEXT)
        return re.sub(rb"^#(line)? +\d.*\n", b"", (work / TEXT).read_bytes(), flags=re.MULTILINE)

    def compile(self, source: Path, options: Sequence[str], work: Path) -> list[Path]:
        """Compile a source to :data:`OBJECT` and return the files that were read."""
        command = (*self.code, *options, "-MD", "-MF", LIST, "-c", str(source), "-o", OBJECT)
        self._step(work, "build.log", OBJECT, source.name, *command)
        return files_read(work / LIST)

    def build_library(self, objects: Sequence[Path], options: Sequence[str], name: str, work: Path) -> None:
        """Link objects to the shared library ``name`` in the working folder."""
        self._step(work, "link.log", name, name, *self.link, *map(str, objects), "-o", name, *options)
        with (work / name).open("rb") as library:
            if library.read(4) != b"\x7fELF":
                raise CompileError(f"{self.command[0]} succeeded but {name} is no shared library; is it a linker?")

    def _step(self, work: Path, log: str, output: str, subject: str, *arguments: str) -> None:
        command = (*self.command, *arguments)
        with compiler_slot():
            run_step(command, cwd=work, log=work / log, output=work / output, subject=subject)


def files_read(rule: Path) -> list[Path]:
    """Return the prerequisites of the rule for ``make`` that a compiler wrote, in order."""
    text = rule.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    _, _, prerequisites = text.partition(":")
    words = re.findall(r"(?:\\.|\$\$|[^\s\\])+", prerequisites)
    return [Path(re.sub(r"\\([ #:])", r"\1", word).replace("$$", "$")) for word in words]
