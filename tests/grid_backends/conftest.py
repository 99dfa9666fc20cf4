"""The runner, and handles of a small robot on hand-written units and on the reference device."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from grid_backends.numpy import CudaHandle, ReferenceFunctions, RobotHandle, UnitFunctions
from grid_backends.numpy.cuda import BINARY
from grid_core.model import Model, load_model
from tests.grid_backends.cuda.fakes import FakeDriver, compile_fake, write_unit
from tests.grid_backends.toys import CXX, HERE, RUNTIME, URDF, build_runner, evaluate, make_record


@pytest.fixture(scope="session")
def native() -> ModuleType:
    build_runner()
    import grid_backends.native

    return grid_backends.native


@pytest.fixture(scope="session")
def model() -> Model:
    return load_model(URDF, floating_base=True)


UnitCompiler = Callable[..., Path]


@pytest.fixture(scope="session")
def compile_unit(model: Model, tmp_path_factory: pytest.TempPathFactory) -> UnitCompiler:
    """Return a function that compiles the toy unit with some definitions, once for each set of them."""
    folder = tmp_path_factory.mktemp("units")

    def compiled(scalar: str = "double", **definitions: object) -> Path:
        values = {"SCALAR": scalar, "NQ": model.nq, "NV": model.nv, "NB": model.nb, **definitions}
        flags = [f"-D{name}={value}" for name, value in values.items()]
        target = folder / ("toy" + "_".join(flags) + ".so")
        if not target.exists():
            command = [CXX, "-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{RUNTIME}", *flags]
            subprocess.run([*command, str(HERE / "toy_unit.cpp"), "-o", str(target)], check=True)
        return target

    return compiled


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeDriver]:
    """Return a CUDA driver without a GPU; whoever opens the driver in this process gets this one."""
    library = compile_fake(tmp_path_factory.mktemp("cuda"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRID_RBD_LIBCUDA", str(library))
        yield FakeDriver(library)


HandleMaker = Callable[..., RobotHandle]


@pytest.fixture(params=["unit", "reference", "cuda"])
def make_handle(
    request: pytest.FixtureRequest, model: Model, compile_unit: UnitCompiler, tmp_path: Path
) -> HandleMaker:
    """Return a function that makes a handle: on compiled units, the reference device, and a GPU that is pretended."""

    def make(dtype: str = "float64") -> RobotHandle:
        if request.param == "cuda":
            request.getfixturevalue("native")
            request.getfixturevalue("fake_driver")
            record = make_record(model, dtype, device="cuda")
            binaries = {n: write_unit(tmp_path / f"{n}_{dtype}", model, n, dtype) / BINARY for n in record.algorithms}
            return CudaHandle(record, UnitFunctions(record, binaries))
        record = make_record(model, dtype, device="cpu")
        if request.param == "reference":
            return RobotHandle(record, ReferenceFunctions(record, evaluate))
        request.getfixturevalue("native")
        scalar = {"float32": "float", "float64": "double"}[dtype]
        units = {"toy": compile_unit(scalar), "pair_of_toys": compile_unit(scalar, TWO_OUTPUTS=1)}
        return RobotHandle(record, UnitFunctions(record, units))

    return make


@pytest.fixture
def handle(make_handle: HandleMaker) -> RobotHandle:
    return make_handle()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)
