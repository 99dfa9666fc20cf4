"""One unit: rendered, then compiled in a folder of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.build.compilers import Compiler
from grid_core.build.request import SCHEMA, RobotRequest
from grid_core.build.targets import UnitInputs
from grid_core.build.workplace import move_built, workplace
from grid_core.toolchains.process import Children
from grid_store import Key

if TYPE_CHECKING:
    from grid_core.model import Model

HEADERS = (".hpp", ".h", ".cuh")

_rendering = threading.Lock()
"""Python runs one thread at a time anyway; one unit after the other, so that the first ones compile meanwhile."""


@dataclass(frozen=True)
class Unit:
    """The source of one algorithm for one robot and target, and what compiles it.

    Attributes
    ----------
    algorithm : str
    request : RobotRequest
    compiler : Compiler
    texts : mapping of str to str
        Text files by name: the source, and what goes beside the compiled file.
    nv : int
        Width of the robot's velocity, by which builds are compared.
    """

    algorithm: str
    request: RobotRequest
    compiler: Compiler
    texts: Mapping[str, str]
    nv: int

    def key(self) -> Key:
        """Return the content key: all that decides what the compiler makes."""
        level = self.request.level
        return Key(
            {
                "schema": SCHEMA,
                "source": self.texts,
                "runtime": [header for header in sorted(_runtime().iterdir()) if header.suffix in HEADERS],
                "flags": list(self.compiler.flags(level)),
                "level": self.request.target.identity(level),
                "compiler": self.compiler.identity(),
            }
        )

    def compile(self, folder: Path) -> dict[str, Any]:
        """Compile, and move all files of the unit into ``folder``; return what is recorded beside them.

        Raises
        ------
        CompileError
            The compiler failed; the folder that it worked in stays for inspection.
        StoreWriteError
            The files cannot be moved.
        """
        began, children = time.perf_counter(), Children()
        target, level = self.request.target, self.request.level
        with workplace(self.algorithm, self.texts) as work:
            product = work / target.unit
            source, log = work / target.source, work / "build.log"
            children.call(partial(self.compiler.compile, source, product, level=level, include=[_runtime()], log=log))
            target.check_loadable(product, level)
            move_built(work, folder, (*self.texts, target.unit))
        return {
            "kind": "unit",
            "algorithm": self.algorithm,
            "dtype": self.request.options.dtype,
            "level": level,
            "compiler": self.compiler.identity(),
            "nv": self.nv,
            "seconds": round(time.perf_counter() - began, 3),
            "memory": children.memory,
        }


def render_unit(request: RobotRequest, compiler: Compiler, algorithm: str, model: Model) -> Unit:
    """Trace an algorithm for a robot and render its unit."""
    catalogue = request.catalogue
    declared, folders = catalogue.algorithms, catalogue.template_folders([algorithm])
    inputs = UnitInputs(declared[algorithm], model, declared, request.options, folders, request.level)
    with _rendering:
        texts = request.target.render(inputs)
    return Unit(algorithm, request, compiler, texts, model.nv)


def _runtime() -> Path:
    from grid_core.codegen.render import RUNTIME  # a process that builds nothing never pays for it

    return RUNTIME
