"""What a handle on a GPU has beside the methods, which tests/grid_backends/test_handle.py calls."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grid_backends.errors import NotAvailableError
from grid_backends.native import DeviceArray
from grid_backends.numpy import CudaHandle, UnitFunctions
from grid_backends.numpy.cuda import BINARY
from grid_backends.numpy.unavailable import NOT_NEEDED
from grid_core.errors import OptionError
from grid_core.model import Model
from tests.grid_backends.cuda.fakes import FakeDriver, InterfaceArray, write_unit
from tests.grid_backends.toys import expected, make_record


@pytest.fixture
def make(fake: FakeDriver, native: ModuleType, model: Model, tmp_path: Path) -> Any:
    def made(device: str = "cuda", **changes: Any) -> CudaHandle:
        record = make_record(model, device=device, facts={"cuda_arch": 90})
        return CudaHandle(record, UnitFunctions(record, {"toy": write_unit(tmp_path, model, **changes) / BINARY}))

    return made


@pytest.fixture
def robot(make: Any) -> CudaHandle:
    return make()


def test_device_arrays_and_streams(fake: FakeDriver, robot: Any, samples: Any) -> None:
    q, qd = samples(2, 3)
    tau = robot.toy(InterfaceArray(q), InterfaceArray(qd), gravity=1.0, stream=0x7000)
    assert isinstance(tau, DeviceArray)
    np.testing.assert_allclose(tau.numpy(), expected(q, qd, gravity=1.0))
    assert fake.launches()[0]["stream"] == 0x7000


def test_lists_and_several_batch_axes(robot: Any, samples: Any) -> None:
    q, qd = samples(2, 3)
    np.testing.assert_allclose(robot.toy(q, qd.tolist()), expected(q, qd))


@pytest.mark.parametrize(("device", "index"), [("cuda", 0), ("cuda:0", 0), ("cuda:1", 1)])
def test_runs_on_its_device(make: Any, samples: Any, device: str, index: int) -> None:
    assert make(device).toy(*map(InterfaceArray, samples(1))).device == f"cuda:{index}"


@pytest.mark.parametrize("device", ["cpu", "cuda:", "cuda:x", "cuda:-1", "cuda1"])
def test_other_devices_are_refused(make: Any, device: str) -> None:
    with pytest.raises(OptionError, match="expected 'cuda' or 'cuda:0'"):
        make(device)


def test_threads_per_block_override_the_choice(fake: FakeDriver, robot: Any, samples: Any) -> None:
    assert robot.threads_per_block == -1
    for n, kernel in [(64, "w1"), (128, "w4"), (1024, "w4"), (1, "w1"), (-1, "w4")]:
        robot.set_threads_per_block(n)
        assert robot.threads_per_block == n
        robot.toy(*samples(4))
        assert fake.launches()[-1]["kernel"].endswith(kernel)


def test_threads_per_block_hold_for_functions_opened_later(fake: FakeDriver, robot: Any, samples: Any) -> None:
    robot.set_threads_per_block(32)
    robot.toy(*samples(4))
    assert fake.launches()[-1]["kernel"].endswith("w1")


@pytest.mark.parametrize("n", [0, -2, 1025, True, 64.0])
def test_threads_per_block_are_checked(robot: Any, n: Any) -> None:
    with pytest.raises(OptionError, match=r"threads per block is .*; set 1 to 1024, or -1"):
        robot.set_threads_per_block(n)


def test_kernel_max_threads(robot: Any) -> None:
    assert robot.kernel_max_threads("toy") == 512
    assert robot.kernel_max_threads("pair_of_toys") == -1
    assert robot.kernel_max_threads("nothing") == -1


def test_device_profile(make: Any) -> None:
    profile = make("cuda:1").device_profile
    assert (profile["name"], profile["device_cc"], profile["multiprocessors"]) == ("Fake 1", 90, 4)
    assert profile["artifact_cc"] == 90
    assert profile["smem_optin_bytes"] == 200_000
    assert profile["free_bytes"] < profile["total_bytes"]


def test_pinned_arrays_serve_as_out(robot: Any, samples: Any) -> None:
    q, qd = samples(3)
    out = robot.pinned_empty((3, 8))
    assert out.dtype == np.float64
    assert robot.is_pinned(out)
    assert robot.toy(q, qd, out=out) is out
    np.testing.assert_allclose(out, expected(q, qd))
    assert robot.pinned_empty(5, "float32").shape == (5,)
    assert not robot.is_pinned(np.zeros(3))
    assert not robot.is_pinned([1.0])


def test_methods_document_the_stream(robot: Any) -> None:
    text = robot.toy.__doc__
    assert "stream : optional" in text
    assert "tau : ndarray or device array, shape (..., nv)" in text


@pytest.mark.parametrize("name", sorted(NOT_NEEDED))
def test_what_is_not_needed_says_why(robot: Any, name: str) -> None:
    with pytest.raises(NotAvailableError, match=f"has no '{name}': .*(each call|framework)"):
        getattr(robot, name)


def test_contexts_bound_the_workspaces(fake: FakeDriver, make: Any, samples: Any) -> None:
    robot = make(scratch=1000)
    context = robot.context(workspace_slots=3)
    assert (robot.device_profile["workspace_slots"], context.device_profile["workspace_slots"]) == (0, 3)
    q, qd = samples(2000)
    np.testing.assert_array_equal(context.toy(q, qd), robot.toy(q, qd))
    few, many = fake.launches()[0], fake.launches()[-1]
    assert (few["blocks"], many["blocks"]) == (3, 63)
