"""The compiled horizon against the same sums over the methods of a handle, and against differences."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grid_horizon import ALGORITHMS, Found, HorizonCost, Task

import grid_rbd

ROBOT = Path(os.environ.get("GRID_HORIZON_ROBOT", Path(__file__).parents[2] / "robots" / "arm7.urdf"))
FRAME = "elbow_link"
PROBLEMS, STEPS, NV = 5, 12, 7


@pytest.fixture(scope="module")
def robot() -> Any:
    return grid_rbd.load_robot(
        ROBOT,
        algorithm_list=ALGORITHMS,
        cost_frames=[FRAME],
        dtype="float64",
        device="reference",
    )


@pytest.fixture(scope="module")
def problems(robot: Any) -> tuple[Any, Any, Task]:
    random = np.random.default_rng(0)
    q = robot.random(seed=0, n=PROBLEMS)
    x0 = np.concatenate([q, 0.1 * random.standard_normal((PROBLEMS, NV))], axis=1)
    u = robot.inverse_dynamics(q, 0 * q, 0 * q)[:, None] + random.standard_normal((PROBLEMS, STEPS, NV))
    x_des = np.concatenate([robot.random(seed=1, n=1)[0], np.zeros(NV)])
    task = Task(ee_des=[0.4, 0.2, 0.5], W=[3.0, 2.0, 1.0], x_des=x_des, Q=random.random(2 * NV), R=0.01, dt=0.02)
    return x0, u, task


def by_the_handle(robot: Any, x0: Any, u: Any, task: Task) -> Found:
    """The same with one call of a method per step, all problems at once."""
    step = {"dt": task.dt, "integrator_type": "semi_implicit_euler"}
    hold = robot.inverse_dynamics(task.x_des[:NV], np.zeros(NV), np.zeros(NV))
    menu = {
        "ee_des": task.ee_des,
        "W": task.W,
        "x_des": task.x_des,
        "Q": task.Q,
        "u_des": hold,
        "R": np.full(NV, task.R),
    }
    states = [x0]
    for k in range(STEPS):
        states.append(robot.plant_step(states[-1], u[:, k], **step))
    last = robot.tracking_cost_menu(states[-1], np.broadcast_to(hold, (PROBLEMS, NV)), **menu)
    cost, costate, gradient = last.value, last.grad_x, np.empty_like(u)
    for k in reversed(range(STEPS)):
        ab = robot.plant_step_gradient(states[k], u[:, k], **step)
        here = robot.tracking_cost_menu(states[k], u[:, k], **menu)
        along = np.einsum("prc,pr->pc", ab, costate)
        cost, costate, gradient[:, k] = (
            cost + here.value,
            here.grad_x + along[:, : 2 * NV],
            here.grad_u + along[:, 2 * NV :],
        )
    return Found(cost, gradient, np.stack(states, axis=1))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 2e-3)])
def test_the_horizon_is_the_sum_of_its_steps(robot: Any, problems: Any, dtype: str, tolerance: float) -> None:
    found = HorizonCost(ROBOT, second_frame=FRAME, dtype=dtype)(*problems)
    expected = by_the_handle(robot, *problems)
    for name in Found._fields:
        scale = np.abs(getattr(expected, name)).max()
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=0, atol=tolerance * scale)


def test_the_gradient_is_that_of_the_cost(problems: Any) -> None:
    horizon = HorizonCost(ROBOT, second_frame=FRAME)
    x0, u, task = problems
    direction = np.random.default_rng(1).standard_normal(u.shape)
    ahead, behind = (horizon(x0, u + sign * 1e-5 * direction, task).cost for sign in (1, -1))
    slope = np.einsum("pku,pku->p", horizon(x0, u, task).gradient, direction)
    np.testing.assert_allclose((ahead - behind) / 2e-5, slope, rtol=1e-6)


def test_it_is_built_once_and_loaded_by_name() -> None:
    built = HorizonCost(ROBOT, second_frame=FRAME).artifact
    again = HorizonCost(ROBOT, second_frame=FRAME).artifact
    assert not again.compiled
    assert grid_rbd.load_artifact("grid-horizon", built.name).path == built.path


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_it_compiles_for_gpus() -> None:
    artifact = HorizonCost(ROBOT, second_frame=FRAME, cuda_arch=90).artifact
    assert artifact.cuda_arch == 90


@pytest.mark.gpu
def test_a_gpu_finds_the_same(problems: Any) -> None:
    from grid_backends.native import cuda_device

    on_gpu = HorizonCost(ROBOT, second_frame=FRAME, cuda_arch=cuda_device(0)["compute"])(*problems)
    on_cpu = HorizonCost(ROBOT, second_frame=FRAME)(*problems)
    for name in Found._fields:
        np.testing.assert_allclose(getattr(on_gpu, name), getattr(on_cpu, name), rtol=1e-8, atol=1e-8)
