"""Maps of configurations: golden cases, the model's own maps, derivatives and what they compose to."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from grid_core.kernel import Kernel, evaluate
from grid_core.kernel.kernel import Argument, Store
from grid_core.kernel.manifold import integrate_jacobians
from grid_core.model import Model
from grid_core.trace import Graph
from tests.oracle.derivatives import STENCIL
from tests.oracle.evaluation import Array, Reference, relative_error
from tests.oracle.robots import GOLDEN, MIXED, TESTS, TREES

ROBOTS = {**GOLDEN, **MIXED, "two trees in the world": TREES["two trees in the world"]}


@cache
def reference(label: str) -> Reference:
    return Reference(ROBOTS[label].model())


def integrate(label: str, q: Array, d: Array) -> Array:
    return reference(label)("configuration_integrate", q=q, d=d)


def difference(label: str, start: Array, end: Array) -> Array:
    return reference(label)("configuration_difference", q=start, q_from=start, q_to=end)


def jacobians(label: str, start: Array, end: Array) -> tuple[Array, Array]:
    found = reference(label)("configuration_difference_jacobians", q=start, q_from=start, q_to=end)
    return found["j_from"], found["j_to"]


def pairs(label: str, n: int = 12) -> tuple[Array, Array, Array]:
    """Return configurations, steps from tiny to half a turn, and where they lead."""
    model = reference(label).model
    generator = np.random.default_rng(2)
    q, d = model.random(3, n), generator.normal(size=(n, model.nv))
    d *= np.geomspace(1e-12, 1.0, n)[:, None]
    for kind, _, v0, _, nv in model.configuration_layout:
        if kind != "euclidean":
            turn = d[:, v0 + nv - 3 : v0 + nv]
            turn *= np.minimum(1.0, 3.1 / np.linalg.norm(turn, axis=1, keepdims=True))
    return q, d, model.integrate(q, d)


@pytest.mark.parametrize("robot", GOLDEN)
def test_golden(robot: str) -> None:
    golden = np.load(TESTS / "golden" / f"{robot}_plant.npz")
    moved = integrate(robot, golden["q"], golden["tangent"])
    sign = np.ones_like(moved)
    if GOLDEN[robot].floating_base:
        sign[:, 3:7] = np.sign(np.sum(moved[:, 3:7] * golden["integrate"][:, 3:7], axis=1, keepdims=True))
    assert relative_error(sign * moved, golden["integrate"]) < 1e-13
    assert relative_error(difference(robot, golden["q"], golden["q_to"]), golden["configuration_difference"]) < 1e-12
    for ours, key in zip(jacobians(robot, golden["q"], golden["q_to"]), ("from", "to"), strict=True):
        theirs = golden[f"configuration_difference_jacobians__{key}"]
        assert relative_error(ours[: len(theirs)], theirs) < 1e-11
    for ours, key in zip(step_jacobians(reference(robot).model, golden["tangent"]), ("q", "d"), strict=True):
        theirs = golden[f"integrate_jacobians__{key}"]
        assert relative_error(ours[: len(theirs)], theirs) < 1e-12


def step_jacobians(model: Model, d: Array) -> list[Array]:
    graph = Graph()
    scalars = [graph.node("input", (), ("d", i)) for i in range(model.nv)]
    found = []
    for matrix in integrate_jacobians(model, scalars):
        flat = [x for row in matrix.dense() for x in row]
        stores = tuple(Store("y", i, x, "", len(graph.nodes)) for i, x in enumerate(flat))
        kernel = Kernel("f", (Argument("d", model.nv, ()),), (Argument("y", model.nv**2, ()),), (), stores, graph)
        found.append(evaluate(kernel, {"d": d})["y"].reshape(-1, model.nv, model.nv))
    return found


@pytest.mark.parametrize("label", ROBOTS)
def test_the_maps_of_the_model(label: str) -> None:
    q, d, end = pairs(label)
    model = reference(label).model
    np.testing.assert_allclose(integrate(label, q, d), end, rtol=0, atol=2e-15 * max(1.0, np.abs(end).max()))
    np.testing.assert_allclose(difference(label, q, end), d, rtol=0, atol=1e-14 * max(1.0, np.abs(d).max()))
    np.testing.assert_allclose(difference(label, q, end), model.difference(q, end), rtol=0, atol=2e-14)


@pytest.mark.parametrize("label", ROBOTS)
def test_quaternions_of_any_length_and_sign(label: str) -> None:
    q, d, end = pairs(label)
    other_q, other_end = q.copy(), end.copy()
    for kind, q0, _, nq, _ in reference(label).model.configuration_layout:
        if kind != "euclidean":
            other_q[:, q0 + nq - 4 : q0 + nq] *= 2.5
            other_end[:, q0 + nq - 4 : q0 + nq] *= -0.3
    np.testing.assert_allclose(integrate(label, other_q, d), integrate(label, q, d), rtol=0, atol=1e-14)
    np.testing.assert_allclose(difference(label, other_q, other_end), difference(label, q, end), rtol=0, atol=1e-14)
    for ours, theirs in zip(jacobians(label, other_q, other_end), jacobians(label, q, end), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("label", ROBOTS)
def test_jacobians_of_the_difference(label: str) -> None:
    q, _, end = pairs(label)
    model = reference(label).model
    step = 1e-3
    moves = step * np.array(list(STENCIL))[:, None, None, None] * np.eye(model.nv)[:, None, :]
    weights = np.array(list(STENCIL.values())) / (60.0 * step)
    shape = (*moves.shape[:2], len(q), model.nq)
    still_q, still_end = np.broadcast_to(q, shape), np.broadcast_to(end, shape)
    for ours, (start, goal) in zip(
        jacobians(label, q, end),
        ((model.integrate(q, moves), still_end), (still_q, model.integrate(end, moves))),
        strict=True,
    ):
        values = difference(label, start.reshape(-1, model.nq), goal.reshape(-1, model.nq))
        values = values.reshape(*shape[:3], model.nv)
        assert relative_error(ours, np.einsum("s,sdbi->bid", weights, values)) < 1e-9


@pytest.mark.parametrize("label", ["mixed floating", "go2"])
def test_they_invert_those_of_the_retraction(label: str) -> None:
    q, d, end = pairs(label)
    by_q, by_d = step_jacobians(reference(label).model, d)
    j_from, j_to = jacobians(label, q, end)
    np.testing.assert_allclose(j_to @ by_d, np.broadcast_to(np.eye(d.shape[1]), by_d.shape), rtol=0, atol=1e-12)
    np.testing.assert_allclose(j_from, -j_to @ by_q, rtol=0, atol=1e-12)
