"""The CUDA target: cubins, each with a description of its kernels. Building needs no GPU."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from grid_core.build.targets.target import Target, UnitInputs
from grid_core.errors import CompileError, OptionError
from grid_core.toolchains.nvcc import NvccCompiler, find_nvcc

ELF = b"\x7fELF"
DESCRIPTION = "unit.json"


class CudaTarget(Target):
    """Cubins; a level is ``sm_`` and the compute capability, ``sm_90``."""

    name = "cuda"
    source = "unit.cu"
    unit = "unit.cubin"

    def identity(self, level: str) -> str:
        if not re.fullmatch(r"sm_\d{2,3}", level):
            raise OptionError(
                f"CUDA architecture is {level!r}, expected 'sm_' and a compute capability, such as 'sm_90'"
            )
        return level

    def runs_here(self, level: str) -> bool:  # noqa: ARG002 - only the driver knows, and the loader asks it
        return True

    def find_compiler(self, override: str | None, known: Sequence[str]) -> NvccCompiler:
        return find_nvcc(override, known=[NvccCompiler.from_json(text) for text in known])

    def render(self, inputs: UnitInputs) -> dict[str, str]:
        from grid_core.codegen.cuda import describe, render_cuda_unit

        settings, dtype = inputs.options.settings, inputs.options.dtype
        text, kernels = render_cuda_unit(
            inputs.algorithm, inputs.model, inputs.algorithms, settings, dtype, inputs.folders
        )
        description = describe(inputs.algorithm, dtype, int(inputs.level.removeprefix("sm_")), kernels)
        return {self.source: text, DESCRIPTION: json.dumps(description, indent=1)}

    def check_loadable(self, unit: Path, level: str) -> None:  # noqa: ARG002 - see runs_here
        with unit.open("rb") as file:
            if file.read(len(ELF)) != ELF:
                raise CompileError(f"nvcc succeeded but {unit} is no cubin; is another program called nvcc?")
