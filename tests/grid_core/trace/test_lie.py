"""Traced rotations and rigid motions against exact values, at tiny angles, large ones and pi."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_core.kernel import Kernel, evaluate
from grid_core.kernel.kernel import Argument, Store
from grid_core.trace import Graph, jacobian
from grid_core.trace.lie import Log, Turn, adjoint, normalised, quaternion_multiply
from grid_core.trace.linalg import Vector, transpose
from tests.oracle.evaluation import Array
from tests.oracle.robots import TESTS

GOLDEN = np.load(TESTS / "golden" / "primitives.npz")


def traced(function: Callable[..., Any], *inputs: Array, derivative: bool = False) -> Array:
    """Evaluate a function of vectors for a batch, flat; its derivative along all of them by the traced graph."""
    graph = Graph()
    names = [f"x{i}" for i in range(len(inputs))]
    scalars = [
        tuple(graph.node("input", (), (n, i)) for i in range(x.shape[1])) for n, x in zip(names, inputs, strict=True)
    ]
    result = function(*scalars)
    flat = [x for row in result for x in (row if isinstance(row, tuple) else (row,))]
    if derivative:
        flat = [x for row in jacobian(flat, [{s: 1.0} for v in scalars for s in v]) for x in row]
    stores = tuple(Store("y", i, value, "", len(graph.nodes)) for i, value in enumerate(flat))
    arguments = tuple(Argument(n, len(v), (len(v),)) for n, v in zip(names, scalars, strict=True))
    kernel = Kernel("f", arguments, (Argument("y", len(flat), (len(flat),)),), (), stores, graph)
    return evaluate(kernel, dict(zip(names, inputs, strict=True)))["y"]


def left_inverse(phi: Vector) -> Any:
    return transpose(Log(Turn(phi).quaternion()).left_inverse())


MAPS = {
    "exp": lambda phi: Turn(phi).rotation(),
    "quat_xyzw": lambda phi: normalised(Turn(phi).quaternion()),
    "left_jacobian": lambda phi: transpose(Turn(phi).right_jacobian()),
    "right_jacobian": lambda phi: Turn(phi).right_jacobian(),
    "right_jacobian_inverse": left_inverse,
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("family", ["so3", "small"])
def test_rotations(family: str, name: str) -> None:
    phi, expected = GOLDEN[f"{family}__phi"], GOLDEN[f"{family}__{name}"]
    np.testing.assert_allclose(traced(MAPS[name], phi), expected.reshape(len(phi), -1), rtol=0, atol=2e-15)


@pytest.mark.parametrize(
    ("family", "rho", "key"),
    [("so3", "se3__rho", "se3__right_jacobian_coupling"), ("small", "small__rho", "small__coupling")],
)
def test_coupling(family: str, rho: str, key: str) -> None:
    phi = GOLDEN[f"{family}__phi"]
    coupling = traced(lambda phi, rho: Turn(phi).coupling(rho), phi, GOLDEN[rho])
    np.testing.assert_allclose(coupling, GOLDEN[key].reshape(len(phi), -1), rtol=0, atol=4e-15)


def test_position() -> None:
    moved = traced(lambda phi, rho: Turn(phi).carried(rho), GOLDEN["small__phi"], GOLDEN["small__rho"])
    np.testing.assert_allclose(moved, GOLDEN["small__translation"], rtol=0, atol=1e-15)


@pytest.mark.parametrize("length", [1.0, -1.0, 3.0, -0.2])
def test_log(length: float) -> None:
    tiny = traced(lambda phi: Log(Turn(phi).quaternion()).phi, GOLDEN["small__phi"])
    np.testing.assert_allclose(tiny, GOLDEN["small__phi"], rtol=1e-15, atol=1e-15)
    near_pi = traced(lambda q: Log(q).phi, length * GOLDEN["near_pi__quat_xyzw"])
    np.testing.assert_allclose(np.abs(near_pi[-1]), np.abs(GOLDEN["near_pi__log"][-1]), rtol=0, atol=2e-15)
    np.testing.assert_allclose(near_pi[:-1], GOLDEN["near_pi__log"][:-1], rtol=0, atol=2e-15)


TWO = np.concatenate([GOLDEN["so3__phi"], GOLDEN["small__phi"]])
OTHER = np.roll(TWO, 3, axis=0)


def test_derivatives_follow_from_the_graph() -> None:
    """Closed forms of derivatives, and their own derivatives by the graph: neither has a kink where series end."""
    by_hand = traced(lambda phi, rho: Turn(phi).carried_gradient(rho), TWO, OTHER)
    by_graph = traced(lambda phi, rho: Turn(phi).carried(rho), TWO, OTHER, derivative=True)
    np.testing.assert_allclose(by_hand, by_graph.reshape(-1, 3, 6)[:, :, :3].reshape(by_hand.shape), rtol=0, atol=1e-14)
    around = traced(lambda phi, p: Log(Turn(phi).quaternion()).released_gradient(p), TWO, OTHER)
    by_graph = traced(lambda q, p: Log(q).released(p), traced(MAPS["quat_xyzw"], TWO), OTHER, derivative=True)
    log = traced(lambda q: Log(q).phi, traced(MAPS["quat_xyzw"], TWO), derivative=True).reshape(-1, 3, 4)
    chained = np.einsum("bij,bjk->bik", around.reshape(-1, 3, 3), log)
    np.testing.assert_allclose(by_graph.reshape(-1, 3, 7)[:, :, :4], chained, rtol=0, atol=1e-12)


def test_second_derivatives_are_finite_and_smooth() -> None:
    def gradient(phi: Vector, rho: Vector) -> Any:
        return (*Turn(phi).coupling(rho), *Turn(phi).right_jacobian(), *left_inverse(phi))

    second = traced(gradient, TWO, OTHER, derivative=True)
    assert np.isfinite(second).all()
    edges = np.array([[x, 0.3, -0.2] for x in (0.93273, 0.93274, 0.2912, 0.2913)])  # squared angle 1, log threshold
    near = traced(gradient, edges, np.ones((4, 3)), derivative=True)
    np.testing.assert_allclose(near[::2], near[1::2], rtol=0, atol=1e-3)


def test_inverses() -> None:
    quaternions = traced(MAPS["quat_xyzw"], TWO)
    products = traced(quaternion_multiply, quaternions, quaternions * [-1.0, -1.0, -1.0, 1.0])
    np.testing.assert_allclose(products, np.tile([0.0, 0.0, 0.0, 1.0], (len(TWO), 1)), rtol=0, atol=1e-15)
    released = traced(lambda phi, rho: Log(Turn(phi).quaternion()).released(Turn(phi).carried(rho)), TWO, OTHER)
    np.testing.assert_allclose(released, OTHER, rtol=0, atol=1e-13)


def test_bracket() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(2, 5, 6))
    swapped = traced(adjoint, a, b) + traced(adjoint, b, a)
    np.testing.assert_allclose(swapped, 0.0, rtol=0, atol=1e-15)
