"""What tests of transforms and programs share: arguments, whole graphs, comparison, and which operators were called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

COMPILING = [
    pytest.mark.usefixtures("fresh_compiler"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated"),
    pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning"),
]
"""Marks of tests that compile programs."""

DOUBLE = torch.float64
BATCH = 3


def motion(robot: Any, batch: int = BATCH) -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    return (robot.random(seed=1, n=batch), *(torch.randn(batch, robot.nv, dtype=DOUBLE) for _ in range(2)))


def whole(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(function, fullgraph=True, backend="aot_eager")


def same(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


class Calls(TorchDispatchMode):
    """Records the operators of robots that reach a kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "grid_rbd":
            self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))
