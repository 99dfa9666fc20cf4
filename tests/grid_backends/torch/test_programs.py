"""Methods in programs of ``torch.compile`` and ``torch.export``: shapes, names, parameters, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.grid_backends.robots import URDF

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch._dynamo.testing import CompileCounterWithBackend  # noqa: E402
from torch.func import vmap  # noqa: E402

from tests.grid_backends.torch.calls import COMPILING, motion, same, whole  # noqa: E402

pytestmark = COMPILING


def test_gradients_through_compiled_maps(robot: Any) -> None:
    arguments = [a.requires_grad_() for a in motion(robot)]
    expected = torch.autograd.grad(robot.inverse_dynamics(*arguments).square().sum(), arguments)
    found = torch.autograd.grad(whole(vmap(robot.inverse_dynamics))(*arguments).square().sum(), arguments)
    same(found, expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_default_compiler(robot: Any) -> None:
    arguments = motion(robot)
    mapped = torch.compile(vmap(lambda *values: robot.inverse_dynamics(*values).sin()), fullgraph=True)
    same(mapped(*arguments), robot.inverse_dynamics(*arguments).sin())


def test_one_program_for_all_batch_sizes(robot: Any) -> None:
    counter = CompileCounterWithBackend("aot_eager")
    mapped = torch.compile(vmap(robot.inverse_dynamics), fullgraph=True, backend=counter, dynamic=True)
    counts = set()
    for batch in (17, 19, 23):  # no other length of a call, which the compiler would take for the same one
        same(mapped(*motion(robot, batch)), robot.inverse_dynamics(*motion(robot, batch)))
        counts.add(counter.frame_count)
    assert len(counts) == 1


def test_compiled_autograd(robot: Any) -> None:
    q, qd, _ = motion(robot)
    velocity = qd.requires_grad_()
    (expected,) = torch.autograd.grad(robot.inverse_dynamics(q, velocity).square().sum(), velocity)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager", fullgraph=True)):
        robot.inverse_dynamics(q, velocity).square().sum().backward()
    same(velocity.grad, expected)


def test_names_and_numbers_in_programs(robot: Any) -> None:
    q, *_ = motion(robot)
    point = [0.1, 0.0, 0.2]
    expected = robot.end_effector_pose_runtime(q, ["ball", "hinge"], point)
    same(whole(lambda q: robot.end_effector_pose_runtime(q, ["ball", "hinge"], point))(q), expected)
    same(whole(robot.crba)(q.numpy()), robot.crba(q))
    fixed = q.numpy()
    same(whole(lambda qd: robot.inverse_dynamics(fixed, qd))(q[:, : robot.nv]), robot.inverse_dynamics(q, q[:, :-2]))
    with pytest.raises(Exception, match="'ee_offsets' is read before the call"):
        whole(lambda q, point: robot.end_effector_pose_runtime(q, ["ball"], point))(q, torch.tensor(point))


def test_programs_read_the_parameters_of_the_handle(compiled: Callable[..., Any]) -> None:
    robot = compiled(URDF, backend="torch", dtype="float64", runtime_inertia=True)
    q = robot.random(seed=1, n=2)
    counter = CompileCounterWithBackend("aot_eager")
    inertia, pose = (
        torch.compile(method, fullgraph=True, backend=counter)
        for method in (robot.crba, robot.end_effector_pose_runtime)
    )
    tip = np.eye(4)
    counts = set()
    for turn in range(12):  # more than a program is compiled again for
        same(inertia(q), robot.crba(q))
        same(pose(q), robot.end_effector_pose_runtime(q))
        counts.add(counter.frame_count)
        tip[2, 3] = 0.1 * (turn + 1)
        robot.attach_tool("ball", mass=0.5, tip_transform=tip)
    assert len(counts) == 1
    robot.set_inertia_params(2.0 * robot.inertia_params)
    same(inertia(q), robot.crba(q))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_export_of_maps(robot: Any) -> None:
    class Mapped(torch.nn.Module):
        def forward(self, q: Any, qd: Any) -> Any:
            return vmap(robot.inverse_dynamics)(q, qd)

    q, qd, _ = motion(robot)
    size = torch.export.Dim("size", min=2)
    exported = torch.export.export(Mapped(), (q, qd), dynamic_shapes=({0: size}, {0: size})).module()
    q, qd, _ = motion(robot, 7)
    same(exported(q, qd), robot.inverse_dynamics(q, qd))
