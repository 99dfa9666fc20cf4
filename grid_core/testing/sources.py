"""The code that others compile: CUDA units, and functions of the consumer header."""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from grid_core.build.targets import UnitInputs, target_of
from grid_core.codegen.render import RUNTIME
from grid_core.errors import ToolchainError
from grid_core.kernel.builder import variants
from grid_core.plugins.algorithm import Absent, Algorithm
from grid_core.testing.bench import Array, Bench, distance
from grid_core.testing.calls import DOUBLE
from grid_core.toolchains import find_compiler
from grid_core.toolchains.levels import detect_level
from grid_core.toolchains.nvcc import find_nvcc

LEVEL = "sm_90"


def check_cuda(bench: Bench) -> None:
    """Render the CUDA unit, and compile it where nvcc is."""
    bench.require_unit()
    target, catalogue = target_of(LEVEL), bench.request.catalogue
    folders = catalogue.template_folders([bench.algorithm.name])
    texts = target.render(
        UnitInputs(bench.algorithm, bench.model, catalogue.algorithms, bench.request.options, folders, LEVEL)
    )
    try:
        compiler = find_nvcc()
    except ToolchainError:
        return
    with TemporaryDirectory(prefix="grid_rbd_test_") as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        source, unit, log = (Path(folder) / name for name in (target.source, target.unit, "build.log"))
        compiler.compile(source, unit, level=LEVEL, include=[RUNTIME], log=log)


CALL = """#include "grid.hpp"
extern "C" __attribute__((visibility("default"))) void call(const double* const* in, double* const* out) {{
    static double ws[grid::{name}_scratch()];
    grid::{function}<double>({arguments}ws);
}}
"""


def check_header(bench: Bench) -> None:
    """Compile the header's function of the algorithm, and compare what it returns with the interpreter."""
    bench.require_unit()
    import grid_rbd

    algorithm, robot = bench.algorithm, bench.robot
    arguments = bench.arguments(1, optional=True)
    zeros = {i.name: np.zeros((1, bench.size(i))) for i in algorithm.inputs if i.absent is Absent.ZERO}
    numbers = zeros | bench.numbers(arguments)
    header = grid_rbd.generate_header(
        robot.urdf, algorithm_list=[algorithm.name], plugins=bench.plugins, floating_base=robot.floating_base,
        contact_frames=robot.frames, cost_frames=robot.frames,
    )  # fmt: skip
    expected = bench.evaluated(bench.kernel(algorithm, list(numbers)), numbers)
    found = _called(bench, header, numbers)
    for name, values in expected.items():
        if (error := distance(found[name], values)) > DOUBLE:
            raise bench.refuse(
                f"output {name!r} of the header's function differs from the interpreter by {error:.1e} of its largest "
                f"entry, more than {DOUBLE:.0e}",
                "avoid differences of large numbers that nearly cancel",
            )


def _called(bench: Bench, header: str, numbers: dict[str, Array]) -> dict[str, Array]:
    """Compile a call of the algorithm's function and make it, for one sample."""
    inputs = [np.ascontiguousarray(numbers[i.name]) for i in bench.algorithm.inputs if i.name in numbers]
    outputs = {o.name: np.full((1, bench.size(o)), np.nan) for o in bench.algorithm.outputs}
    places = [*(f"in[{i}], " for i in range(len(inputs))), *(f"out[{i}], " for i in range(len(outputs)))]
    with TemporaryDirectory(prefix="grid_rbd_test_") as folder:
        (Path(folder) / "grid.hpp").write_text(header)
        source, library = Path(folder) / "call.cpp", Path(folder) / "call.so"
        function = _function(bench.algorithm, numbers)
        source.write_text(CALL.format(name=bench.algorithm.name, function=function, arguments="".join(places)))
        log = Path(folder) / "build.log"
        find_compiler().compile(source, library, level=detect_level(), include=[Path(folder)], log=log)
        ctypes.CDLL(str(library)).call(_pointers(inputs), _pointers([*outputs.values()]))
    return outputs


def _function(algorithm: Algorithm, given: Collection[str]) -> str:
    """Return the function of a variant: that of the algorithm's name, unless another one takes as many arguments."""
    absent = [i.name for i in algorithm.inputs if i.name not in given]
    numbers = [len(without) for without in variants(algorithm)]
    alone = numbers.count(len(absent)) == 1
    return algorithm.name if alone else algorithm.name + "".join(f"_without_{name}" for name in sorted(absent))


def _pointers(arrays: list[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))
