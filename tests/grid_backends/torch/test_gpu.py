"""The PyTorch handle on a GPU: values, derivatives, streams, compilation, captured graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_backends.errors import StaleModelError
from tests.grid_backends.robots import URDF

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

pytestmark = [pytest.mark.gpu, pytest.mark.xdist_group("gpu")]


@pytest.fixture(scope="module")
def robot() -> Any:
    import grid_rbd

    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return grid_rbd.load_robot(
        urdf_string=URDF, backend="torch", device="cuda", dtype="float64", floating_base=True, lazy=True,
        runtime_inertia=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def on_cpu() -> Any:
    import grid_rbd

    return grid_rbd.load_robot(
        urdf_string=URDF, backend="torch", device="cpu", dtype="float64", floating_base=True, lazy=True,
        runtime_inertia=True,
    )  # fmt: skip


def motion(robot: Any, batch: int = 100) -> tuple[Any, ...]:
    torch.manual_seed(0)
    rest = [torch.randn(batch, robot.nv, dtype=torch.float64).cuda() for _ in range(2)]
    return (robot.random(seed=1, n=batch), *rest)


def test_values_and_gradients_are_those_of_the_cpu(robot: Any, on_cpu: Any) -> None:
    arguments = [a.requires_grad_() for a in motion(robot)]
    same = [a.detach().cpu().requires_grad_() for a in arguments]
    found, expected = robot.inverse_dynamics(*arguments), on_cpu.inverse_dynamics(*same)
    np.testing.assert_allclose(found.detach().cpu(), expected.detach(), rtol=1e-11, atol=1e-11)
    found.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(arguments, same):
        np.testing.assert_allclose(mine.grad.cpu(), other.grad, rtol=1e-9, atol=1e-9)


def test_second_derivatives(robot: Any) -> None:
    arguments = [a.requires_grad_() for a in motion(robot, 2)]
    assert torch.autograd.gradcheck(robot.forward_dynamics, arguments)
    assert torch.autograd.gradgradcheck(robot.forward_dynamics, arguments)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_mapped_calls_and_their_gradients(robot: Any) -> None:
    q, qd, qdd = motion(robot)
    assert torch.equal(torch.func.vmap(robot.inverse_dynamics)(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd))
    slopes = torch.func.vmap(torch.func.grad(lambda qd, q: robot.inverse_dynamics(q, qd).square().sum()))
    tracked = qd.clone().requires_grad_()
    robot.inverse_dynamics(q, tracked).square().sum().backward()
    torch.testing.assert_close(slopes(qd, q), tracked.grad, rtol=1e-10, atol=1e-10)


def test_calls_go_to_the_current_stream(robot: Any) -> None:
    q, *_ = motion(robot, 4096)
    expected = robot.crba(q)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        found = robot.crba(q * 1.0)
    stream.synchronize()
    assert torch.equal(found, expected)


def test_whole_graphs(robot: Any) -> None:
    q, qd, _ = motion(robot)
    whole = torch.compile(lambda q, qd: robot.inverse_dynamics(q, qd.sin()).cos(), fullgraph=True)
    expected = robot.inverse_dynamics(q, qd.sin()).cos()
    torch.testing.assert_close(whole(q, qd), expected, rtol=1e-10, atol=1e-10)


def test_captured_graphs(robot: Any) -> None:
    q, qd, qdd = motion(robot)
    graph = robot.capture("inverse_dynamics", q, qd, qdd)
    other = robot.random(seed=5, n=len(q))
    torch.testing.assert_close(graph(other, qd, qdd), robot.inverse_dynamics(other, qd, qdd))
    host = torch.empty(graph.static_out.shape, dtype=torch.float64, pin_memory=True)
    graph.replay_into(host)
    torch.cuda.synchronize()
    torch.testing.assert_close(host, graph.static_out.cpu())
    robot.set_inertia_params(1.1 * robot.inertia_params)
    with pytest.raises(StaleModelError, match="capture the method again"):
        graph.replay()
