"""CUDA units on a real GPU: ``nox -s gpu``. Needs a CUDA device and nvcc; some tests need CuPy or PyTorch.

What is called follows from the declarations: a new algorithm is covered as soon as a plugin declares it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import grid_rbd
from grid_backends.errors import DeviceMemoryError, UnitError
from tests.grid_backends.cuda.gpu import (
    CASES,
    TOLERANCE,
    arguments,
    difference,
    on_device,
    opened,
    part,
    repeated,
    results,
    shapes,
)
from tests.oracle.robots import GOLDEN

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("compute")]

BATCHES = (0, 1, 31, 33, 100)


EVERY = [
    pytest.param(label, dtype, name, id=f"{label}-{dtype}-{name}", marks=pytest.mark.xdist_group(f"{label} {name}"))
    for label, case in CASES.items()
    for dtype in case.dtypes
    for name in case.algorithms()
]
every_algorithm = pytest.mark.parametrize(("label", "dtype", "name"), EVERY)


@pytest.fixture
def robot(label: str, dtype: str) -> Any:
    return opened(label, dtype, "cuda")


@every_algorithm
def test_equals_the_cpu(robot: Any, label: str, dtype: str, name: str) -> None:
    """Every batch size and block shape, with and without optional arguments."""
    method = getattr(robot, name)
    for full in (False, True):
        given = arguments(name, robot, max(BATCHES), full=full)
        expected = results(getattr(opened(label, dtype, CASES[label].against), name)(**given))
        for threads in shapes(robot):
            for batch in BATCHES:
                rows = tuple(r[:batch] for r in expected)
                error = difference(method(**part(given, slice(batch))), rows)
                assert error < TOLERANCE[dtype], (full, threads, batch)


@every_algorithm
def test_large_batches_are_small_ones_again(robot: Any, dtype: str, name: str) -> None:
    """Groups of 32 samples, chunks of host arrays and blocks that take turns do not mix samples up."""
    given = arguments(name, robot, 32)
    once = results(getattr(robot, name)(**given))
    for batch in (1000, 10_000) if max(r[0].size for r in once) < 5000 else (1000,):
        again = results(getattr(robot, name)(**repeated(given, batch)))
        assert difference(again, tuple(np.resize(r, (batch, *r.shape[1:])) for r in once)) < TOLERANCE[dtype]


@every_algorithm
def test_the_order_in_memory_does_not_matter(robot: Any, name: str) -> None:
    context = robot.context()
    context.output_layout = "batch_last"
    for batch in (1, 33, 3000):
        given = repeated(arguments(name, robot, 33), batch)
        for last, first in zip(
            results(getattr(context, name)(**given)), results(getattr(robot, name)(**given)), strict=True
        ):
            np.testing.assert_array_equal(last, first)


@every_algorithm
class TestDeviceArrays:
    @pytest.fixture
    def cupy(self) -> Any:
        return pytest.importorskip("cupy")

    def test_equal_host_arrays(self, robot: Any, name: str, cupy: Any) -> None:
        context = robot.context()
        context.output_layout = "batch_last"
        for batch in (0, 1, 33, 1000):
            given = repeated(arguments(name, robot, 33, full=True), batch)
            expected = results(getattr(robot, name)(**given))
            for handle, last in ((robot, False), (robot, True), (context, True)):
                found = results(getattr(handle, name)(**on_device(cupy, given, batch_last=last)))
                for a, b in zip(found, expected, strict=True):
                    assert difference(a, b) < TOLERANCE[robot.dtype]

    def test_rows_of_wider_arrays(self, robot: Any, name: str, cupy: Any) -> None:
        """Ragged batches: samples that are apart."""
        given = arguments(name, robot, 40)
        device = on_device(cupy, given)
        strided = {n: v if isinstance(v, str) else _apart(cupy, v) for n, v in device.items()}
        plain = results(getattr(robot, name)(**device))
        for a, b in zip(results(getattr(robot, name)(**strided)), plain, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_graphs_are_captured_and_replayed(self, robot: Any, name: str, cupy: Any) -> None:
        torch = pytest.importorskip("torch")
        given = {
            n: torch.from_numpy(v).cuda() if isinstance(v, np.ndarray) else v
            for n, v in arguments(name, robot, 50).items()
        }
        method = getattr(robot.context(), name)  # even loading happens during the capture
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            captured = method(**given)
        for seed in (0, 1):
            new = arguments(name, robot, 50, seed=seed)
            for n, tensor in given.items():
                if hasattr(tensor, "copy_"):
                    tensor.copy_(torch.from_numpy(new[n]))
            graph.replay()
            torch.cuda.synchronize()
            for a, b in zip(results(captured), results(getattr(robot, name)(**on_device(cupy, new))), strict=True):
                np.testing.assert_array_equal(a, b)

    def test_streams_and_handles_at_once(self, robot: Any, name: str, cupy: Any) -> None:
        handles = [robot, robot.context()]
        cases = [on_device(cupy, repeated(arguments(name, robot, 33), batch)) for batch in (77, 1000, 33, 500)]
        alone = [results(getattr(robot, name)(**case)) for case in cases]
        streams = [cupy.cuda.Stream(non_blocking=True) for _ in cases]
        cupy.cuda.Device().synchronize()
        for _ in range(3):
            together = [
                getattr(handles[i % 2], name)(**case, stream=stream)
                for i, (case, stream) in enumerate(zip(cases, streams, strict=True))
            ]
            for found, expected in zip(together, alone, strict=True):
                for a, b in zip(results(found), expected, strict=True):
                    np.testing.assert_array_equal(a, b)


def _apart(cupy: Any, array: Any) -> Any:
    """Return an equal array whose samples are not adjacent."""
    wide = cupy.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    wide[::2] = array
    return wide[::2]


@pytest.fixture
def arm() -> Any:
    return opened("run-time tables", "float64", "cuda").context()


def test_rows_of_a_batch_are_the_same_bits_alone(arm: Any) -> None:
    given = arguments("inverse_dynamics", arm, 65)
    tau = arm.inverse_dynamics(**given)
    for row in (0, 31, 32, 64):
        alone = arm.inverse_dynamics(**{n: v[row] for n, v in given.items()})
        np.testing.assert_array_equal(alone, tau[row])


def test_nothing_is_allocated_after_the_first_calls(arm: Any) -> None:
    cupy = pytest.importorskip("cupy")
    given = arguments("inverse_dynamics_gradient", arm, 3000)
    device = on_device(cupy, given)
    for call in range(100):
        arm.inverse_dynamics_gradient(**device)
        arm.inverse_dynamics_gradient(**given)
        if call == 2:
            before = arm.device_profile
    after = arm.device_profile
    assert after["arena_bytes"] == before["arena_bytes"]
    if "PYTEST_XDIST_WORKER" not in os.environ:  # other tests use the same GPU
        assert after["free_bytes"] == before["free_bytes"]


def test_memory_that_is_not_there_is_an_error(arm: Any) -> None:
    cupy = pytest.importorskip("cupy")
    huge = {n: cupy.broadcast_to(v, (1 << 36, v.shape[1])) for n, v in _one(cupy, arm).items()}
    with pytest.raises(DeviceMemoryError, match="use a smaller batch"):
        arm.inverse_dynamics(**huge)
    assert arm.inverse_dynamics(**arguments("inverse_dynamics", arm, 3)).shape == (3, arm.nv)


def _one(cupy: Any, robot: Any) -> dict[str, Any]:
    return on_device(cupy, arguments("inverse_dynamics", robot, 1))


def test_offsets_have_64_bits(arm: Any) -> None:
    cupy = pytest.importorskip("cupy")
    batch = (1 << 31) // arm.nv + 100_000
    if arm.device_profile["free_bytes"] < 2 * batch * arm.nv * 8:
        pytest.skip("the device has too little free memory for a result of 2**31 entries")
    one = _one(cupy, arm)
    tau = arm.inverse_dynamics(**{n: cupy.broadcast_to(v, (batch, v.shape[1])) for n, v in one.items()})
    tail = cupy.asarray(tau)[-5:].get()
    np.testing.assert_allclose(tail, np.repeat(arm.inverse_dynamics(**one).numpy(), 5, axis=0), rtol=1e-9, atol=1e-9)


def test_threads_may_call_at_once(arm: Any) -> None:
    cases = [arguments("inverse_dynamics", arm, 3000, seed=seed) for seed in range(8)]
    alone = [arm.inverse_dynamics(**case) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda case: arm.inverse_dynamics(**case), cases * 4))
    for i, result in enumerate(together):
        np.testing.assert_array_equal(result, alone[i % 8])


class TestArchitectures:
    def build(self, **options: Any) -> Any:
        return grid_rbd.load_robot(GOLDEN["iiwa14"].urdf, device="cuda", algorithm_list="nonlinear_effects", **options)

    def test_ptx_serves_newer_gpus(self, compute: int) -> None:
        """The driver compiles it when it is first used."""
        if compute <= 80:
            pytest.skip("needs a GPU newer than 8.0")
        robot = self.build(cuda_archs="80+ptx", name="portable")
        given = arguments("nonlinear_effects", robot, 33)
        exact = grid_rbd.load_robot(GOLDEN["iiwa14"].urdf, device="reference", algorithm_list="nonlinear_effects")
        assert difference(robot.nonlinear_effects(**given), exact.nonlinear_effects(**given)) < TOLERANCE["float32"]

    def test_one_of_several_fits(self, compute: int) -> None:
        robot = self.build(cuda_archs=[75, compute], name="several")
        assert robot.nonlinear_effects(**arguments("nonlinear_effects", robot, 3)).shape == (3, robot.nv)

    def test_none_that_fits_is_named(self, compute: int) -> None:
        other = 75 if compute >= 80 else 90
        robot = self.build(cuda_archs=other, name="other")
        with pytest.raises(UnitError, match=f"capability {other} and no PTX, .* with cuda_arch={compute}"):
            robot.nonlinear_effects(**arguments("nonlinear_effects", robot, 3))


class TestTorch:
    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch")

    def test_tensors_in_and_out_without_copies(self, torch: Any, arm: Any) -> None:
        given = arguments("inverse_dynamics", arm, 100)
        tensors = {n: torch.from_numpy(v).cuda() for n, v in given.items()}
        out = torch.empty(100, arm.nv, dtype=torch.float64, device="cuda")
        assert arm.inverse_dynamics(**tensors, out=out) is out
        assert difference(out.cpu().numpy(), arm.inverse_dynamics(**given)) < 1e-12
        arm.output_layout = "batch_last"
        for layout in ("batch_first", "batch_last"):
            arm.output_layout = layout
            result = arm.inverse_dynamics(**tensors)
            for tensor in (torch.as_tensor(result, device="cuda"), torch.from_dlpack(result)):
                assert tensor.data_ptr() == result.__cuda_array_interface__["data"][0]
                assert torch.equal(tensor, out)
        columns = torch.empty(arm.nv, 100, dtype=torch.float64, device="cuda")
        arm.inverse_dynamics(**tensors, out=columns.T)
        assert torch.equal(columns.T, out)

    def test_the_current_stream_is_used(self, torch: Any, arm: Any) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            given = arguments("inverse_dynamics", arm, 10)
            result = arm.inverse_dynamics(**{n: torch.from_numpy(v).cuda() for n, v in given.items()})
        assert result.stream == stream.cuda_stream
