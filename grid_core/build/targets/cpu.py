"""The CPU target: shared objects for g++ and clang++."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from grid_core.build.targets.target import Target, UnitInputs
from grid_core.errors import CompileError
from grid_core.toolchains import CxxCompiler, find_compiler, level_identity, machine_supports
from grid_core.toolchains.levels import level_flags

SYMBOL = "grid_unit_table"


class CpuTarget(Target):
    """Shared objects; levels are those of :mod:`grid_core.toolchains.levels`."""

    name = "cpu"
    source = "unit.cpp"
    unit = "unit.so"

    def identity(self, level: str) -> str:
        level_flags(level)
        return level_identity(level)

    def runs_here(self, level: str) -> bool:
        return machine_supports(level)

    def find_compiler(self, override: str | None, known: Sequence[str]) -> CxxCompiler:
        return find_compiler(override, known=[CxxCompiler.from_json(text) for text in known])

    def render(self, inputs: UnitInputs) -> dict[str, str]:
        from grid_core.codegen.render import render_unit

        settings, dtype = inputs.options.settings, inputs.options.dtype
        text = render_unit(inputs.algorithm, inputs.model, inputs.algorithms, settings, dtype, inputs.folders)
        return {self.source: text}

    def check_loadable(self, unit: Path, level: str) -> None:
        if not self.runs_here(level):
            return
        try:
            getattr(ctypes.CDLL(str(unit)), SYMBOL)
        except (OSError, AttributeError) as error:
            raise CompileError(
                f"the compiler succeeded but {unit} cannot be loaded: {error}; look for another compiler's files on "
                "LD_LIBRARY_PATH, or set CXX to another compiler"
            ) from None
