"""CUDA units on a real GPU: ``nox -s gpu``. Needs a CUDA device and nvcc; some tests need CuPy or PyTorch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import CudaHandle, RobotRecord, UnitFunctions
from grid_backends.numpy.cuda import BINARY
from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model, load_model
from tests.grid_backends.toys import RUNTIME, build_runner

pytestmark = pytest.mark.gpu

ALGORITHMS = ("inverse_dynamics", "forward_dynamics", "aba", "inverse_dynamics_gradient", "forward_dynamics_gradient")
ROBOTS = {"arm7": False, "quadruped12": True}
"""Shipped robots, and whether their base floats."""
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}
BATCHES = (0, 1, 31, 33, 1000, 16384)


@dataclass(frozen=True)
class Robot:
    """A robot with its compiled units."""

    model: Model
    dtype: str
    record: RobotRecord
    folders: dict[str, Path]

    def handle(self) -> CudaHandle:
        binaries = {name: folder / BINARY for name, folder in self.folders.items()}
        return CudaHandle(self.record, UnitFunctions(self.record, binaries))

    def arguments(self, batch: int, *, seed: int = 1) -> tuple[np.ndarray, ...]:
        rng = np.random.default_rng(seed)
        rows = (rng.normal(size=(batch, self.model.nv)) for _ in range(2))
        return tuple(a.astype(self.dtype) for a in (self.model.random(seed, batch), *rows))

    def expected(self, name: str, arguments: tuple[np.ndarray, ...], **more: Any) -> np.ndarray:
        """Interpret the algorithm in float64."""
        algorithm = self.record.declarations[name]
        kernel = trace_algorithm(algorithm, self.model, self.record.declarations, TraceSettings())
        batch = len(arguments[0])
        gravity = np.broadcast_to(np.array([0.0, 0.0, -9.81]), (batch, 3))
        names = [i.name for i in algorithm.inputs[:3]]
        inputs = {"gravity": gravity, **dict(zip(names, arguments)), **more}
        shape = self.record.signatures[name].outputs[0].shape
        result = evaluate(kernel, {n: np.asarray(a, np.float64) for n, a in inputs.items()})
        return result[algorithm.outputs[0].name].reshape(batch, *shape)


@pytest.fixture(scope="session")
def architecture() -> str:
    """Return the architecture of device 0, such as ``sm_90``."""
    if "GRID_RBD_LIBCUDA" in os.environ:
        pytest.skip("this process uses the driver of the other tests; run 'pytest -m gpu' on its own")
    build_runner()
    from grid_backends.errors import CudaError
    from grid_backends.native import cuda_device

    try:
        return f"sm_{cuda_device(0)['compute']}"
    except CudaError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def compile_robot(architecture: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Robot]:
    """Return a function that compiles the units of a robot, once."""
    from grid_core.codegen.cuda import describe, render_cuda_unit
    from grid_core.errors import ToolchainError
    from grid_core.plugins.manager import load_catalogue
    from grid_core.toolchains.nvcc import find_nvcc
    from grid_rbd.examples import find_description

    try:
        nvcc = find_nvcc()
    except ToolchainError as error:
        pytest.skip(str(error))
    declarations = load_catalogue().algorithms

    @cache
    def compiled(name: str, dtype: str = "float32") -> Robot:
        model = load_model(find_description(name), floating_base=ROBOTS[name])
        root = tmp_path_factory.mktemp(f"{name}_{dtype}")

        def unit(algorithm: str) -> Path:
            folder = root / algorithm
            folder.mkdir()
            source, kernels = render_cuda_unit(declarations[algorithm], model, declarations, TraceSettings(), dtype)
            (folder / "unit.cu").write_text(source)
            description = describe(declarations[algorithm], dtype, kernels)
            (folder / "unit.json").write_text(json.dumps(description))
            nvcc.compile(
                folder / "unit.cu", folder / "unit.fatbin", level=architecture, include=[RUNTIME], log=folder / "log"
            )
            return folder

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            folders = dict(zip(ALGORITHMS, pool.map(unit, ALGORITHMS)))
        record = RobotRecord(name, model, declarations, ALGORITHMS, dtype=dtype, device="cuda")
        return Robot(model, dtype, record, folders)

    return compiled


@pytest.fixture
def arm(compile_robot: Callable[..., Robot]) -> Robot:
    return compile_robot("arm7")


def error(got: Any, expected: np.ndarray) -> float:
    return float(np.abs(np.asarray(got) - expected).max() / np.abs(expected).max()) if expected.size else 0.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_algorithm_batch_and_shape(compile_robot: Callable[..., Robot], name: str, dtype: str) -> None:
    cupy = pytest.importorskip("cupy")
    robot = compile_robot(name, dtype)
    handle: Any = robot.handle()
    few = robot.arguments(100)
    for algorithm in ALGORITHMS:
        method = getattr(handle, algorithm)
        rows = robot.expected(algorithm, few)
        for batch in BATCHES:
            expected = np.resize(rows, (batch, *rows.shape[1:]))
            arguments = tuple(np.resize(a, (batch, a.shape[1])) for a in few)
            for threads in (-1, 32, 1024):
                handle.set_threads_per_block(threads)
                assert error(method(*arguments), expected) < TOLERANCE[dtype], (algorithm, batch, threads)
                result = method(*map(cupy.asarray, arguments))
                assert error(result.numpy(), expected) < TOLERANCE[dtype], (algorithm, batch, threads)


def test_optional_inputs(compile_robot: Callable[..., Robot]) -> None:
    robot = compile_robot("quadruped12", "float64")
    handle: Any = robot.handle()
    arguments = robot.arguments(50)
    f_ext = np.random.default_rng(2).normal(size=(50, 6 * robot.model.nb))
    gravity = np.array([1.0, 2.0, 3.0])
    more = {"f_ext": f_ext, "gravity": np.broadcast_to(gravity, (50, 3))}
    expected = robot.expected("inverse_dynamics", arguments, **more)
    assert error(handle.inverse_dynamics(*arguments, f_ext=f_ext, gravity=gravity), expected) < 1e-12


def test_rows_of_a_batch_are_the_same_bits_alone(arm: Robot) -> None:
    handle: Any = arm.handle()
    arguments = arm.arguments(65)
    tau = handle.inverse_dynamics(*arguments)
    for row in (0, 31, 32, 64):
        np.testing.assert_array_equal(handle.inverse_dynamics(*(a[row] for a in arguments)), tau[row])


def test_nothing_is_allocated_after_the_first_calls(compile_robot: Callable[..., Robot]) -> None:
    from grid_backends.native import cuda_device

    cupy = pytest.importorskip("cupy")
    robot = compile_robot("quadruped12")
    handle: Any = robot.handle()
    arguments = robot.arguments(3000)
    arrays = [cupy.asarray(a) for a in arguments]
    for call in range(100):
        handle.inverse_dynamics_gradient(*arrays)
        handle.inverse_dynamics(*arguments)
        if call == 2:
            before = cuda_device(0)["free_bytes"]
    assert cuda_device(0)["free_bytes"] == before


def test_memory_that_is_not_there_is_an_error(arm: Robot) -> None:
    from grid_backends.errors import DeviceMemoryError

    cupy = pytest.importorskip("cupy")
    handle: Any = arm.handle()
    huge = [cupy.broadcast_to(cupy.asarray(a), (1 << 36, a.shape[1])) for a in arm.arguments(1)]
    with pytest.raises(DeviceMemoryError, match="use a smaller batch"):
        handle.inverse_dynamics(*huge)
    assert handle.inverse_dynamics(*arm.arguments(3)).shape == (3, arm.model.nv)


@pytest.mark.usefixtures("architecture")
class TestTorch:
    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch")

    def tensors(self, torch: Any, robot: Robot, batch: int, seed: int = 1) -> list[Any]:
        return [torch.from_numpy(a).cuda() for a in robot.arguments(batch, seed=seed)]

    def test_tensors_in_and_out_without_copies(self, torch: Any, arm: Robot) -> None:
        handle: Any = arm.handle()
        tensors = self.tensors(torch, arm, 100)
        out = torch.empty(100, arm.model.nv, device="cuda")
        assert handle.inverse_dynamics(*tensors, out=out) is out
        expected = arm.expected("inverse_dynamics", arm.arguments(100))
        assert error(out.cpu(), expected) < 2e-5
        result = handle.inverse_dynamics(*tensors)
        for tensor in (torch.as_tensor(result, device="cuda"), torch.from_dlpack(result)):
            assert tensor.data_ptr() == result.__cuda_array_interface__["data"][0]
            assert torch.equal(tensor, out)

    def test_the_current_stream_is_used(self, torch: Any, arm: Robot) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            result: Any = arm.handle().inverse_dynamics(*self.tensors(torch, arm, 10))  # type: ignore[attr-defined]
        assert result.stream == stream.cuda_stream

    def test_graphs_are_captured_and_replayed(self, torch: Any, compile_robot: Callable[..., Robot]) -> None:
        robot = compile_robot("quadruped12")
        handle: Any = robot.handle()  # new: even loading happens during the capture
        tensors = self.tensors(torch, robot, 1000)
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            result = handle.inverse_dynamics_gradient(*tensors)
        for seed in (1, 2):
            for tensor, new in zip(tensors, self.tensors(torch, robot, 1000, seed)):
                tensor.copy_(new)
            graph.replay()
            torch.cuda.synchronize()
            expected = robot.expected("inverse_dynamics_gradient", robot.arguments(1000, seed=seed))
            assert error(result.numpy(), expected) < 2e-5

    def test_streams_and_handles_at_once(self, torch: Any, compile_robot: Callable[..., Robot]) -> None:
        robot = compile_robot("quadruped12")
        handles: list[Any] = [robot.handle() for _ in range(2)]
        batches = (777, 1000, 333, 5000)
        cases = [self.tensors(torch, robot, batch) for batch in batches]
        alone = [handles[0].inverse_dynamics_gradient(*case).numpy() for case in cases]
        streams = [torch.cuda.Stream() for _ in cases]
        torch.cuda.synchronize()
        for _ in range(10):
            results = [
                handles[i % 2].inverse_dynamics_gradient(*case, stream=stream)
                for i, (case, stream) in enumerate(zip(cases, streams))
            ]
            for result, expected in zip(results, alone):
                np.testing.assert_array_equal(result.numpy(), expected)


def test_threads_may_call_at_once(arm: Robot) -> None:
    handle: Any = arm.handle()
    cases = [arm.arguments(3000, seed=seed) for seed in range(8)]
    alone = [handle.inverse_dynamics(*case) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda case: handle.inverse_dynamics(*case), cases * 4))
    for i, result in enumerate(together):
        np.testing.assert_array_equal(result, alone[i % 8])


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_compute_sanitizer_finds_nothing(compile_robot: Callable[..., Robot], tmp_path: Path, tool: str) -> None:
    if shutil.which("compute-sanitizer") is None:
        pytest.skip("compute-sanitizer is not on PATH")
    for name in ROBOTS:
        robot = compile_robot(name)
        script = tmp_path / "calls.py"
        script.write_text(
            f"""
import json, numpy as np
from grid_backends.native import CudaFunction, CudaUnit
for folder in {[str(f) for f in robot.folders.values()]!r}:
    text = open(folder + "/unit.json").read()
    kernel = json.loads(text)["kernels"][0]
    inputs = [(n, (s,), False, None, None) for n, s in kernel["inputs"]]
    function = CudaFunction(CudaUnit(folder + "/unit.fatbin", text), inputs, [(n, (s,)) for n, s in kernel["outputs"]])
    for workers in (1, 32):
        function.set_workers([(1000, workers)])
        for batch in (1, 33):
            function(tuple(np.ones((batch, s), "f4") for _, s in kernel["inputs"]))
"""
        )
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", sys.executable, str(script)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
