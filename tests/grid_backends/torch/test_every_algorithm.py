"""First and second derivatives of every declared algorithm, as compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grid_core.plugins.manager import load_catalogue
from grid_rbd.samples import sample_arguments
from tests.grid_backends.robots import URDF

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

pytestmark = pytest.mark.slow

ALGORITHMS = load_catalogue().algorithms
UNITS = [name for name, algorithm in ALGORITHMS.items() if algorithm.emit is not None]
FIRST_ONLY = {"idsva_so", "fdsva_so", *(name for name in UNITS if name.startswith("integrator_gradient_"))}
"""Their second derivatives are the fourth and third of the dynamics: minutes of compilation each."""


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", UNITS)
def test_derivatives(name: str, floating: bool, compiled: Callable[..., Any]) -> None:
    options = {"dtype": "float64", "floating_base": floating, "contact_frames": ("c",), "cost_frames": ("c",)}
    robot = compiled(URDF, backend="torch", **options)
    drawn = sample_arguments(ALGORITHMS[name], compiled(URDF, **options), 1)
    numbers = {n: torch.tensor(a, requires_grad=True) for n, a in drawn.items() if hasattr(a, "dtype")}
    others = {n: a for n, a in drawn.items() if n not in numbers}

    def function(*values: Any) -> Any:
        result = getattr(robot, name)(**dict(zip(numbers, values)), **others)
        outputs = (result,) if isinstance(result, torch.Tensor) else tuple(result)
        return tuple(output for output in outputs if output.requires_grad)

    arguments = tuple(numbers.values())
    assert torch.autograd.gradcheck(function, arguments, rtol=1e-4, atol=1e-5)
    if name not in FIRST_ONLY:
        assert torch.autograd.gradgradcheck(function, arguments, rtol=1e-3, atol=1e-4)
