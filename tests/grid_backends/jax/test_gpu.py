"""The JAX handle on a GPU: values, derivatives, and robots that are elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.grid_backends.robots import URDF

jax = pytest.importorskip("jax", reason="JAX is not installed")

pytestmark = [pytest.mark.gpu, pytest.mark.xdist_group("gpu")]


@pytest.fixture(scope="module", autouse=True)
def _gpu() -> Iterator[None]:
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module")
def robots(_gpu: None) -> dict[str, Any]:
    import grid_rbd

    options: dict[str, Any] = {"backend": "jax", "dtype": "float64", "floating_base": True, "lazy": True}
    return {device: grid_rbd.load_robot(urdf_string=URDF, device=device, **options) for device in ("cpu", "cuda")}


def motion(robot: Any, batch: int = 100) -> tuple[Any, ...]:
    rest = np.random.default_rng(0).standard_normal((2, batch, robot.nv))
    return (np.asarray(robot.random(seed=1, n=batch)), *rest)


def loss(robot: Any, *values: Any) -> Any:
    return (robot.inverse_dynamics(*values) ** 2).sum()


def test_values_and_gradients_are_those_of_the_cpu(robots: dict[str, Any]) -> None:
    values = motion(robots["cuda"])
    slopes = {}
    for device, robot in robots.items():
        with jax.default_device(jax.devices("gpu" if device == "cuda" else "cpu")[0]):
            slopes[device] = jax.jit(jax.grad(lambda *v, r=robot: loss(r, *v), (0, 1, 2)))(*values)
    for mine, other in zip(slopes["cuda"], slopes["cpu"]):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


def test_second_derivatives(robots: dict[str, Any]) -> None:
    from jax.test_util import check_grads

    check_grads(robots["cuda"].forward_dynamics, motion(robots["cuda"], 2), order=2, rtol=1e-4, atol=1e-4)


def test_a_robot_on_the_other_device_is_an_error(robots: dict[str, Any]) -> None:
    q = robots["cpu"].random(seed=0, n=3)
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="the robot is on the CPU"):
        robots["cpu"].crba(jax.device_put(q, jax.devices("gpu")[0])).block_until_ready()


def test_default_values_and_many_arguments(robots: dict[str, Any]) -> None:
    from grid_core.plugins.manager import load_catalogue
    from grid_rbd.samples import sample_arguments

    found = {}
    for device, robot in robots.items():
        given = sample_arguments(load_catalogue(()).algorithms["state_cost"], robot, 33)
        with jax.default_device(jax.devices("gpu" if device == "cuda" else "cpu")[0]):
            found[device] = jax.tree.leaves(jax.jit(robot.state_cost)(**given))
    for mine, other in zip(found["cuda"], found["cpu"], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


def test_each_gpu_computes_its_own_samples(robots: dict[str, Any]) -> None:
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    if len(jax.devices("gpu")) < 2:
        pytest.skip("this machine has one GPU")
    robot = robots["cuda"]
    devices = jax.devices("gpu")[:2]
    divided = NamedSharding(Mesh(np.array(devices), "batch"), PartitionSpec("batch"))
    gradient = jax.jit(robot.inverse_dynamics_gradient)
    whole = [jax.device_put(v, devices[0]) for v in motion(robot, 1000)]
    parts = [jax.device_put(v, divided) for v in whole]
    program = gradient.lower(*parts).compile().as_text()
    assert not {word for word in ("all-gather", "all-to-all", "all-reduce", "collective-permute") if word in program}
    for mine, other in zip(jax.tree.leaves(gradient(*parts)), jax.tree.leaves(gradient(*whole)), strict=True):
        assert mine.sharding.spec == PartitionSpec("batch")
        np.testing.assert_array_equal(mine, other)
