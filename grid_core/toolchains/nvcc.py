"""NVIDIA's compiler for the CUDA target. It runs on machines without a GPU."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grid_core.errors import OptionError, ToolchainError
from grid_core.toolchains.architectures import architectures_of
from grid_core.toolchains.images import ImageCompiler
from grid_core.toolchains.process import ask
from grid_core.toolchains.project import ProjectCompiler
from grid_core.toolchains.search import stamp

CODE = ("-std=c++17", "-O3")
"""Options of all code. Multiply-adds are contracted by default; finite math is never assumed."""


@dataclass(frozen=True)
class NvccCompiler:
    """A CUDA compiler.

    Parameters
    ----------
    command : tuple of str
        Absolute path.
    version : str
        Full text of ``--version``.
    architectures : tuple of int
        Compute capabilities that it compiles for, 90 for sm_90.
    stamp : str
        :func:`~grid_core.toolchains.search.stamp` of the command when it was asked.
    """

    command: tuple[str, ...]
    version: str
    architectures: tuple[int, ...]
    stamp: str

    @property
    def path(self) -> Path:
        return Path(self.command[0])

    def identity(self) -> dict[str, str]:
        """Return what names this compiler in keys; not where it is installed."""
        return {"kind": "nvcc", "version": self.version}

    def flags(self, level: str) -> tuple[str, ...]:
        """Return the options for a level such as ``"sm_90"`` or ``"sm_86,sm_90,compute_90"``.

        Raises
        ------
        OptionError
            The compiler does not know an architecture.
        """
        return ("-fatbin", *CODE, *self._machines(level))

    def _machines(self, level: str) -> tuple[str, ...]:
        wanted = architectures_of(level)
        for number in wanted.machine:
            if number not in self.architectures:
                known = ", ".join(map(str, self.architectures))
                raise OptionError(
                    f"{self.path} does not compile for compute capability {number}; it knows {known}: "
                    "choose one of these as cuda_arch, or install a CUDA toolkit that knows the GPU"
                )
        machine = (f"-gencode=arch=compute_{n},code=sm_{n}" for n in wanted.machine)
        portable = (f"-gencode=arch=compute_{n},code=compute_{n}" for n in wanted.portable)
        return (*machine, *portable)

    def compile(
        self, source: Path, output: Path, *, level: str, include: Sequence[Path], log: Path, extra: Sequence[str] = ()
    ) -> None:
        """Compile a unit to fat binaries, one behind the other, as a ``Toolchain`` compiles to a shared object.

        See :mod:`grid_core.toolchains.images` for the files of a unit.
        """
        options = (*CODE, *(f"-I{folder.absolute()}" for folder in include), *extra)
        linkable = not architectures_of(level).portable
        compiler = ImageCompiler(source, log, self.command, options, self._machines(level), linkable)
        output.write_bytes(compiler.compile())

    def project(self, level: str) -> ProjectCompiler:
        """Return the compiler for the sources of a project, for some architectures."""
        machines = self._machines(level)
        return ProjectCompiler(self.command, (*CODE, "-Xcompiler=-fPIC", *machines), ("-shared", *machines))

    def to_json(self) -> str:
        """Return a record for :meth:`from_json`, to be kept between processes."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> NvccCompiler:
        """Restore a compiler from its record."""
        record = json.loads(text)
        return cls(tuple(record["command"]), record["version"], tuple(record["architectures"]), record["stamp"])


def find_nvcc(override: str | None = None, *, known: Sequence[NvccCompiler] = ()) -> NvccCompiler:
    """Find nvcc: ``CUDA_HOME``, then PATH, then NVIDIA's pip packages.

    Parameters
    ----------
    override : str, optional
        Command to use instead; no other is tried then.
    known : sequence of NvccCompiler
        Compilers asked by earlier processes. One that is found again unchanged is returned without running anything.

    Raises
    ------
    ToolchainError
        None works; the message lists what was tried.
    """
    tried: dict[str, str] = {}
    for origin, path in _candidates(override):
        found = shutil.which(path)
        if found is None:
            tried[origin] = f"{path!r} is not an executable"
            continue
        command = (str(Path(found).absolute()),)
        unchanged = [compiler for compiler in known if (compiler.command, compiler.stamp) == (command, stamp(command))]
        if unchanged:
            return unchanged[0]
        try:
            return NvccCompiler(command, ask(command, "--version"), _architectures(command), stamp(command))
        except ToolchainError as error:
            tried[origin] = str(error)
    listed = "\n".join(f"  {origin}: {reason}" for origin, reason in tried.items())
    raise ToolchainError(
        f"no working nvcc; tried\n{listed}\nInstall the CUDA toolkit and set CUDA_HOME to its folder, or run "
        "'pip install nvidia-cuda-nvcc' (13 or later; nvidia-cuda-nvcc-cu12 has no nvcc in it). No GPU is needed to "
        'compile; device="cpu" needs no nvcc.'
    )


def _candidates(override: str | None) -> Iterator[tuple[str, str]]:
    if override is not None:
        yield "requested", override
        return
    if home := os.environ.get("CUDA_HOME"):
        yield "CUDA_HOME", str(Path(home) / "bin" / "nvcc")
    yield "PATH", "nvcc"
    for folder in sys.path:
        for path in sorted(Path(folder).glob("nvidia/*/bin/nvcc")):
            yield f"pip package {path.parents[1].name}", str(path)


def _architectures(command: tuple[str, ...]) -> tuple[int, ...]:
    """Ask for the compute capabilities; those with a letter are variants of a plain one."""
    names = re.findall(r"sm_(\d+)\b", ask(command, "--list-gpu-code"))
    return tuple(sorted({int(name) for name in names}))
