"""CUDA functions of the toy algorithms on a driver that needs no GPU, and the GPU of tests that need one."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grid_backends.errors import CudaError
from grid_backends.numpy import open_cuda_unit
from grid_core.model import Model
from tests.grid_backends.cuda.fakes import FakeDriver, write_unit
from tests.grid_backends.toys import build_runner, make_record


@pytest.fixture
def fake(fake_driver: FakeDriver) -> FakeDriver:
    """Return the driver of this process with an empty log."""
    fake_driver.clear()
    return fake_driver


@pytest.fixture
def open_toy(fake: FakeDriver, native: ModuleType, model: Model, tmp_path: Path) -> Any:
    """Return a function that opens a toy unit: ``open_toy(name="toy", dtype="float64", device=0, **changes)``."""

    def opened(name: str = "toy", dtype: str = "float64", device: int = 0, **changes: Any) -> Any:
        folder = write_unit(tmp_path / f"{name}_{dtype}", model, name, dtype, **changes)
        return open_cuda_unit(folder, make_record(model, dtype).signatures[name], device)

    return opened


@pytest.fixture
def toy(open_toy: Any) -> Any:
    return open_toy()


@pytest.fixture
def samples(model: Model, rng: np.random.Generator) -> Any:
    """Return a function that makes q and qd with the given batch axes."""

    def made(*batch: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
        q, qd = rng.normal(size=(*batch, model.nq)), rng.normal(size=(*batch, model.nv))
        return q.astype(dtype), qd.astype(dtype)

    return made


@pytest.fixture(scope="session")
def compute() -> int:
    """Return the compute capability of device 0, 90 for 9.0."""
    if "GRID_RBD_LIBCUDA" in os.environ:
        pytest.skip("this process uses the driver of the other tests; run 'pytest -m gpu' on its own")
    build_runner()
    from grid_backends.native import cuda_device

    try:
        return int(cuda_device(0)["compute"])
    except CudaError as error:
        pytest.skip(str(error))
