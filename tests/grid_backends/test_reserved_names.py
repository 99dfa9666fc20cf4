"""The names that the core keeps free for handles are those that handles have."""

from __future__ import annotations

import importlib

import pytest

from grid_backends.numpy import CudaHandle, RobotHandle
from grid_backends.numpy.cuda import CUDA_METHODS
from grid_backends.numpy.methods import CPU_METHODS, MethodStyle
from grid_backends.numpy.unavailable import UNAVAILABLE
from grid_core.plugins.check import HANDLE_WORDS, RESERVED


@pytest.mark.parametrize("handle", [RobotHandle, CudaHandle])
def test_attributes_are_reserved(handle: type[RobotHandle]) -> None:
    public = {name for name in dir(handle) if not name.startswith("_")}
    assert public | {*UNAVAILABLE} <= HANDLE_WORDS, "add the new ones to grid_core.plugins.check"


@pytest.mark.parametrize(("framework", "handle"), [("jax", "JaxRobotHandle"), ("torch", "TorchRobotHandle")])
def test_attributes_in_frameworks_are_reserved(framework: str, handle: str) -> None:
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    module = importlib.import_module(f"grid_backends.{framework}")
    assert {name for name in dir(getattr(module, handle)) if not name.startswith("_")} <= HANDLE_WORDS


@pytest.mark.parametrize("style", [CPU_METHODS, CUDA_METHODS])
def test_parameters_of_methods_are_reserved(style: MethodStyle) -> None:
    assert {"self", "out", *style.parameters} <= RESERVED
