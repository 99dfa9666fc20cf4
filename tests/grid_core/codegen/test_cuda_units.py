"""CUDA units of every algorithm compile: ``nox -s cuda-compile``. Needs nvcc and no GPU.

All units of a robot are one translation unit, which takes a fraction of the time of one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from grid_core.codegen import shapes
from grid_core.codegen.cuda import cuda_kernels, render_cuda_unit
from grid_core.codegen.images import divided
from grid_core.codegen.render import RUNTIME
from grid_core.errors import ToolchainError
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.manager import load_catalogue
from grid_core.toolchains.architectures import architectures_of
from grid_core.toolchains.nvcc import NvccCompiler, find_nvcc
from tests.oracle.evaluation import quiet_model
from tests.oracle.trees import Node, chain, describe

pytestmark = pytest.mark.cuda_compile

LEVEL = "sm_90"
BRIEF = 20_000
"""Characters of a two-joint robot's unit; longer ones are compiled for that robot only."""

PLAIN = TraceSettings()
TABLES = TraceSettings(runtime=frozenset({"inertia", "transform", "joint_dynamics"}))
JOINTS = (*chain("revolute", "spherical"), Node("prismatic", 0), Node("revolute", 2, follows=(0, -0.7, 0.2)))


@pytest.fixture(scope="module")
def nvcc() -> NvccCompiler:
    try:
        return find_nvcc()
    except ToolchainError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def emitted() -> Iterator[Algorithm]:
    """The algorithms that have units of their own, with the build options of a plain robot."""
    for algorithm in load_catalogue(()).algorithms.values():
        if algorithm.emit is not None and not algorithm.needs:
            yield algorithm


def render(algorithm: Algorithm, model: Model, dtype: str, level: str = LEVEL, settings: TraceSettings = PLAIN) -> str:
    declared = load_catalogue(()).algorithms
    wanted = architectures_of(level)
    kernels = cuda_kernels(algorithm, model, declared, settings, dtype, wanted)
    assert all(kernel.memory.shared_bytes <= wanted.shared_bytes for kernel in kernels)
    return "\n".join(render_cuda_unit(algorithm, model, dtype, divided(kernels)).values())


def compile_units(nvcc: NvccCompiler, folder: Path, sources: list[str], level: str = LEVEL) -> bytes:
    folder.mkdir(parents=True)
    (folder / "units.cu").write_text("\n".join(sources))
    binary = folder / "units.fatbin"
    nvcc.compile(folder / "units.cu", binary, level=level, include=[RUNTIME], log=folder / "log", extra=["-w"])
    return binary.read_bytes()


@cache
def two_joints(dtype: str) -> dict[str, str]:
    """The sources of every algorithm for a small robot, by name."""
    model = quiet_model(describe(chain("revolute", "prismatic"), 21))
    return {algorithm.name: render(algorithm, model, dtype) for algorithm in emitted()}


def test_every_algorithm_in_every_precision(nvcc: NvccCompiler, pool: ThreadPoolExecutor, tmp_path: Path) -> None:
    """One precision compiles while the next one is rendered."""
    jobs = [
        pool.submit(compile_units, nvcc, tmp_path / dtype, [*two_joints(dtype).values()])
        for dtype in ("float32", "float64")
    ]
    assert all(job.result() for job in jobs)


def test_every_joint_class_for_older_and_newer_gpus(nvcc: NvccCompiler, tmp_path: Path) -> None:
    model = quiet_model(describe(JOINTS, 22), floating_base=True)
    level = "sm_75,sm_80,compute_80"
    brief = [a for a in emitted() if len(two_joints("float32")[a.name]) < BRIEF]
    assert brief
    assert compile_units(nvcc, tmp_path / "units", [render(a, model, "float32", level) for a in brief], level)


def test_robots_without_joints_have_empty_rows(nvcc: NvccCompiler, tmp_path: Path) -> None:
    model = quiet_model(describe((), 23))
    family = [a for a in emitted() if a.family == "dynamics"]
    assert compile_units(nvcc, tmp_path / "units", [render(a, model, "float32") for a in family])


def test_tables_travel_with_the_launch(nvcc: NvccCompiler, tmp_path: Path) -> None:
    """All three of a joint class each, and the default of gravity: more than the 256 bytes of other units."""
    model = quiet_model(describe(JOINTS, 22))
    algorithm = load_catalogue(()).algorithms["inverse_dynamics"]
    source = render(algorithm, model, "float64", settings=TABLES)
    tables = 8 * (10 * model.nb + 6 * model.nb + 4 * model.nv)
    assert f", {(256 + tables + 8 * 3) // 8}> io" in source
    assert compile_units(nvcc, tmp_path / "units", [source])


def test_pooled_kernels_for_older_and_newer_gpus(
    nvcc: NvccCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size of clusters is left to the launch, so that one source serves GPUs without them."""
    monkeypatch.setattr(shapes, "CLUSTER_OPERATIONS", 0)
    model = quiet_model(describe(chain("revolute", "prismatic"), 21))
    algorithm = load_catalogue(()).algorithms["integrator_hessian_euler"]
    for level in ("sm_75,sm_80", LEVEL):
        source = render(algorithm, model, "float64", level)
        assert "_p16(" in source
        assert compile_units(nvcc, tmp_path / level.partition(",")[0], [source], level)
