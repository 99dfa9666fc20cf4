"""The CUDA target: fat binaries, each with a description of its kernels. Building needs no GPU."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from grid_core.build.targets.target import Target, UnitInputs
from grid_core.errors import CompileError
from grid_core.toolchains.architectures import architectures_of
from grid_core.toolchains.images import IMAGES, listing
from grid_core.toolchains.nvcc import NvccCompiler, find_nvcc

MAGIC = (0xBA55ED50).to_bytes(4, "little")
DESCRIPTION = "unit.json"


class CudaTarget(Target):
    """Fat binaries, one behind the other: machine code for one or several architectures, and PTX if wanted.

    A level names them, see :mod:`grid_core.toolchains.architectures`. The driver picks what fits the GPU.
    """

    name = "cuda"
    source = "unit.cu"
    unit = "unit.fatbin"

    def identity(self, level: str) -> str:
        return architectures_of(level).level

    def runs_here(self, level: str) -> bool:  # noqa: ARG002 - only the driver knows, and the loader asks it
        return True

    def find_compiler(self, override: str | None, known: Sequence[str]) -> NvccCompiler:
        return find_nvcc(override, known=[NvccCompiler.from_json(text) for text in known])

    def render(self, inputs: UnitInputs) -> dict[str, str]:
        from grid_core.codegen.cuda import cuda_kernels, describe, render_cuda_unit
        from grid_core.codegen.images import divided, images

        settings, dtype = inputs.options.settings, inputs.options.dtype
        wanted = architectures_of(inputs.level)
        kernels = cuda_kernels(inputs.algorithm, inputs.model, inputs.algorithms, settings, dtype, wanted)
        divisions = divided(kernels)
        stem = Path(self.source).stem
        texts = render_cuda_unit(inputs.algorithm, inputs.model, dtype, divisions, inputs.folders, stem)
        description = json.dumps(describe(inputs.algorithm, dtype, wanted, divisions), indent=1)
        return {**texts, IMAGES: listing(images(stem, divisions)), DESCRIPTION: description}

    def check_loadable(self, unit: Path, level: str) -> None:  # noqa: ARG002 - see runs_here
        with unit.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise CompileError(f"nvcc succeeded but {unit} is no fat binary; is another program called nvcc?")
