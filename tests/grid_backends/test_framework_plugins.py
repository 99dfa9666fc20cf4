"""An algorithm of a third party is differentiable in both frameworks, with no rule of its own; so is a declared one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PLUGIN = '''
from grid_core.plugins import Algorithm, Input, Jacobian, Output, hookimpl

QD = Input("qd", ("nv",), "velocity")
SQUARE = Output("square", (), "its square")


def square(k):
    k.output("square", sum(v * v for v in k.input("qd")))


def looped(k):
    """The same with a loop, which has no derivative of its own."""
    place = k.array("w", [*k.input("qd"), 0.0])
    nv = k.model.nv
    k.loop([[i] for i in range(nv)], lambda row: row.accumulate(place, 0, row.load(place, 0) * row.load(place, 0), 0))
    k.output("square", sum(value - v for value, v in zip(place.values(), k.input("qd"))))


def slopes(k):
    k.output("slopes", [2.0 * v for v in k.input("qd")])


@hookimpl
def grid_algorithms():
    more = {"family": "toys", "summary": "Square of the velocity.", "inputs": (QD,)}
    return [
        Algorithm("speed_squared", outputs=(SQUARE,), emit=square, **more),
        Algorithm("speed_slopes", outputs=(Output("slopes", ("nv",), "slopes"),), emit=slopes, **more),
        Algorithm("looped_square", outputs=(SQUARE,), emit=looped, jacobian={"qd": Jacobian("speed_slopes")}, **more),
        Algorithm("looped_without", outputs=(SQUARE,), emit=looped, **more),
    ]
'''


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[str], Any]:
    import grid_rbd
    from tests.grid_backends.robots import URDF

    file = tmp_path / "squares.py"
    file.write_text(PLUGIN)
    return lambda backend: grid_rbd.load_robot(urdf_string=URDF, backend=backend, plugins=[file], lazy=True)


@pytest.mark.parametrize("name", ["speed_squared", "looped_square"])
def test_in_pytorch(name: str, loaded: Callable[[str], Any]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    robot = loaded("torch")
    qd = torch.arange(1.0, robot.nv + 1.0, requires_grad=True)
    value = getattr(robot, name)(qd)
    np.testing.assert_allclose(value.detach(), np.square(np.arange(1, robot.nv + 1)).sum())
    value.backward()
    np.testing.assert_allclose(qd.grad, 2.0 * np.arange(1, robot.nv + 1))


@pytest.mark.parametrize("name", ["speed_squared", "looped_square"])
def test_in_jax(name: str, loaded: Callable[[str], Any]) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    method = getattr(loaded("jax"), name)
    qd = np.arange(1.0, 5.0, dtype=np.float32)
    np.testing.assert_allclose(jax.jit(jax.grad(method))(qd), 2.0 * qd)
    np.testing.assert_allclose(jax.jvp(method, (qd,), (qd,))[1], 2.0 * (qd @ qd))


def test_no_derivative_is_an_error(loaded: Callable[[str], Any]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from grid_core.errors import NoDerivativeError

    qd = torch.ones(4, requires_grad=True)
    value = loaded("torch").looped_without(qd)
    with pytest.raises(NoDerivativeError, match=r"'looped_without' has no derivative along qd .*Algorithm\.jacobian"):
        value.backward()
