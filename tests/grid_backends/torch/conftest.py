"""What tests of transforms and programs share: a robot in double precision, and a compiler that remembers nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.grid_backends.robots import URDF


@pytest.fixture(scope="module")
def robot(compiled: Callable[..., Any]) -> Any:
    return compiled(URDF, backend="torch", dtype="float64", floating_base=True)


@pytest.fixture
def fresh_compiler() -> None:
    import torch

    torch.compiler.reset()
