"""Every declared algorithm, as compiled: first and second derivatives, calls under ``vmap`` and in programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from grid_core.plugins.manager import load_catalogue
from grid_rbd.samples import sample_arguments
from tests.grid_backends.robots import URDF

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from tests.grid_backends.torch.calls import same, whole  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")]

ALGORITHMS = load_catalogue().algorithms
UNITS = [name for name, algorithm in ALGORITHMS.items() if algorithm.emit is not None]
FIRST_ONLY = {"idsva_so", "fdsva_so", *(name for name in UNITS if name.startswith("integrator_gradient_"))}
"""Their second derivatives are the fourth and third of the dynamics: minutes of compilation each."""


@dataclass(frozen=True)
class Drawn:
    """A method of a robot as a function of its arrays, and arrays for it; other arguments stay as they were drawn."""

    function: Callable[..., tuple[Any, ...]]
    arrays: tuple[Any, ...]


def drawn(name: str, floating: bool, compiled: Callable[..., Any], batch: int) -> Drawn:
    options = {"dtype": "float64", "floating_base": floating, "contact_frames": ("c",), "cost_frames": ("c",)}
    robot = compiled(URDF, backend="torch", **options)
    values = sample_arguments(ALGORITHMS[name], compiled(URDF, **options), batch)
    arrays = {n: torch.tensor(a) for n, a in values.items() if hasattr(a, "dtype")}
    others = {n: a for n, a in values.items() if n not in arrays}

    def function(*given: Any) -> tuple[Any, ...]:
        result = getattr(robot, name)(**dict(zip(arrays, given)), **others)
        return (result,) if isinstance(result, torch.Tensor) else tuple(result)

    return Drawn(function, tuple(arrays.values()))


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", UNITS)
def test_derivatives(name: str, floating: bool, compiled: Callable[..., Any]) -> None:
    method = drawn(name, floating, compiled, 1)
    arguments = tuple(array.requires_grad_() for array in method.arrays)

    def function(*given: Any) -> Any:
        return tuple(output for output in method.function(*given) if output.requires_grad)

    assert torch.autograd.gradcheck(function, arguments, rtol=1e-4, atol=1e-5)
    if name not in FIRST_ONLY:
        assert torch.autograd.gradgradcheck(function, arguments, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_maps_and_programs(name: str, floating: bool, compiled: Callable[..., Any]) -> None:
    torch.compiler.reset()
    method = drawn(name, floating, compiled, 2)
    expected = method.function(*method.arrays)
    mapped = torch.func.vmap(method.function)
    for function in (mapped, whole(method.function), whole(mapped)):
        same(function(*method.arrays), expected)
