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
