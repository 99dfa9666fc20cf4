"""The PyTorch handle: values, derivatives of both orders, transforms, compilation and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_backends.errors import NotAvailableError
from grid_core.errors import ArgumentError, NoDerivativeError
from tests.grid_backends.robots import URDF

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

DOUBLE = torch.float64


@pytest.fixture(scope="module", params=["fixed", "floating"])
def robot(request: pytest.FixtureRequest, compiled: Callable[..., Any]) -> Any:
    return compiled(URDF, backend="torch", dtype="float64", floating_base=request.param == "floating")


@pytest.fixture(scope="module")
def numpy_robot(robot: Any, compiled: Callable[..., Any]) -> Any:
    return compiled(URDF, dtype="float64", floating_base=robot.floating_base)


def motion(robot: Any, batch: int = 3, *, grad: bool = True) -> tuple[Any, ...]:
    torch.manual_seed(0)
    q = robot.random(seed=1, n=batch)
    rest = [torch.randn(batch, robot.nv, dtype=DOUBLE) for _ in range(2)]
    return tuple(x.requires_grad_(grad) for x in (q, *rest))


def test_values_are_those_of_numpy(robot: Any, numpy_robot: Any) -> None:
    q, qd, qdd = motion(robot, grad=False)
    np.testing.assert_array_equal(
        robot.inverse_dynamics(q, qd, qdd[0]), numpy_robot.inverse_dynamics(q.numpy(), qd.numpy(), qdd[0].numpy())
    )
    np.testing.assert_array_equal(robot.crba(q[0]), numpy_robot.crba(q[0].numpy()))
    stacked = robot.crba(q.expand(2, 3, -1))
    assert stacked.shape == (2, 3, robot.nv, robot.nv)
    result = robot.com(q.T.contiguous().T)
    assert type(result).__name__ == "Com"
    np.testing.assert_array_equal(result.jacobian, numpy_robot.com(q.numpy()).jacobian)
    assert robot.crba(q[:0]).shape == (0, robot.nv, robot.nv)


CASES: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": lambda r, q, qd, qdd: r.inverse_dynamics(q, qd, qdd),
    "forward_dynamics": lambda r, q, qd, u: r.forward_dynamics(
        q, qd, u, f_ext=0.1 * torch.ones(6 * r.nb, dtype=DOUBLE)
    ),
    "integrator": lambda r, q, qd, u: r.integrator(q, qd, u, 0.01, integrator_type="semi_implicit_euler"),
    "com": lambda r, q, qd, qdd: r.com(q)[0],
}


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives(robot: Any, name: str) -> None:
    arguments = motion(robot, 1)

    def function(*values: Any) -> Any:
        return CASES[name](robot, *values)

    assert torch.autograd.gradcheck(function, arguments)
    assert torch.autograd.gradgradcheck(function, arguments)


def test_shared_arguments_and_those_with_defaults(robot: Any) -> None:
    q, qd, qdd = motion(robot)
    wrench, gravity = torch.randn(6 * robot.nb, dtype=DOUBLE), torch.tensor([0.3, 0.2, -9.0], dtype=DOUBLE)
    shared = (qdd[0].detach().requires_grad_(), wrench.requires_grad_(), gravity.requires_grad_())
    assert torch.autograd.gradcheck(lambda a, f, g: robot.inverse_dynamics(q, qd, a, gravity=g, f_ext=f), shared)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_transforms(robot: Any) -> None:
    q, qd, qdd = motion(robot, grad=False)
    batched = robot.inverse_dynamics(q, qd, qdd[0])
    mapped = torch.func.vmap(lambda q, qd: robot.inverse_dynamics(q, qd, qdd[0]))(q, qd)
    np.testing.assert_array_equal(mapped, batched)
    nested = torch.func.vmap(torch.func.vmap(robot.inverse_dynamics, (0, None, 0)), (0, 1, None))(
        q.expand(2, 3, -1), qd[:2].T, qdd
    )
    np.testing.assert_array_equal(nested[1], robot.inverse_dynamics(q, qd[1], qdd))

    def energy(q: Any, qd: Any) -> Any:
        return robot.inverse_dynamics(q, qd).square().sum()

    gradients = torch.func.vmap(torch.func.grad(energy))(q, qd)
    tracked = q.detach().requires_grad_()
    (expected,) = torch.autograd.grad(energy(tracked, qd), tracked)
    np.testing.assert_allclose(gradients, expected, rtol=1e-12, atol=1e-12)
    forward = torch.func.jacfwd(lambda qd: robot.inverse_dynamics(q[0], qd))(qd[0])
    np.testing.assert_allclose(
        forward, robot.inverse_dynamics_gradient(q[0], qd[0])[:, robot.nv :], rtol=1e-10, atol=1e-10
    )


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
def test_operators_pass_the_checks_of_pytorch(robot: Any) -> None:
    q, qd, qdd = motion(robot)
    robot.inverse_dynamics(q, qd, qdd).sum().backward()
    operator = getattr(torch.ops.grid_rbd, robot._operator("inverse_dynamics", ("q", "qd", "qdd", "gravity")))
    gravity = torch.tensor([0.0, 0.0, -9.81], dtype=DOUBLE)
    torch.library.opcheck(operator, (q, qd, qdd, gravity))
    several = getattr(torch.ops.grid_rbd, robot._operator("com", ("q",)))
    torch.library.opcheck(several, (q,))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_compilation_of_whole_graphs_and_export(robot: Any) -> None:
    q, qd, _ = motion(robot)

    def function(q: Any, qd: Any) -> Any:
        return robot.forward_dynamics(q, qd.sin(), 0.1 * qd).cos()

    whole = torch.compile(function, fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(whole(q, qd).detach(), function(q, qd).detach(), rtol=1e-12)
    (expected,) = torch.autograd.grad(function(q, qd).sum(), qd)
    (found,) = torch.autograd.grad(whole(q, qd).sum(), qd)
    np.testing.assert_allclose(found, expected, rtol=1e-12)

    class Policy(torch.nn.Module):
        def forward(self, q: Any, qd: Any) -> Any:
            return function(q, qd)

    values = (q.detach(), qd.detach())
    exported = torch.export.export(Policy(), values)
    np.testing.assert_allclose(exported.module()(*values), function(*values), rtol=1e-12)


def test_methods_that_call_others(robot: Any, numpy_robot: Any) -> None:
    q, qd, u = motion(robot)
    controls = torch.stack([u, -u, 0.5 * u], 1)
    states = robot.rollout(q, qd, controls, 0.01)
    expected = numpy_robot.rollout(q.detach().numpy(), qd.detach().numpy(), controls.detach().numpy(), 0.01)
    np.testing.assert_allclose(states.detach(), expected, rtol=1e-13, atol=1e-13)
    states[:, -1].square().sum().backward()
    assert u.grad.abs().min() > 0.0
    gradient = robot.rollout_gradient(q, qd, controls, 0.01)
    assert gradient.ab.shape == (3, 3, 2 * robot.nv, 3 * robot.nv)
    assert robot.rollout(q, qd, controls[:, :0], 0.01).shape == (3, 1, robot.nq + robot.nv)
    x = torch.cat([q, qd], -1)
    np.testing.assert_array_equal(robot.plant_step(x, u, 0.01).detach(), robot.integrator(q, qd, u, 0.01).detach())
    poses = robot.end_effector_pose_runtime(q, ["ball", "hinge"])
    named = numpy_robot.end_effector_pose_runtime(q.detach().numpy(), ["ball", "hinge"])
    np.testing.assert_array_equal(poses.detach(), named)


def test_parameters_are_arguments(compiled: Callable[..., Any]) -> None:
    """Gradients belong to the parameters that the call was given, also when those of the handle change in between."""
    robot = compiled(URDF, backend="torch", dtype="float64", runtime_inertia=True)
    q, qd, qdd = motion(robot)
    table = torch.tensor(robot.inertia_params)
    own = robot.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(own.detach(), robot.inverse_dynamics(q, qd, qdd, inertia_params=table).detach())
    heavy = (2.0 * table).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda p: robot.inverse_dynamics(q.detach(), qd.detach(), qdd.detach(), inertia_params=p), (heavy,)
    )
    version = robot.model_version
    robot.set_inertia_params(2.0 * table.numpy())
    assert robot.model_version == version + 1
    (first,) = torch.autograd.grad(own.sum(), q, retain_graph=True)
    (second,) = torch.autograd.grad(robot.inverse_dynamics(q, qd, qdd).sum(), q)
    np.testing.assert_allclose(second, 2.0 * first, rtol=1e-9, atol=1e-9)


def test_what_is_refused(robot: Any) -> None:
    q, qd, qdd = motion(robot)
    with pytest.raises(ArgumentError, match=r"argument 'qd' has shape \(2,\), expected shape \(\.\.\., nv\)"):
        robot.inverse_dynamics(q, qd[0, :2])
    with pytest.raises(ArgumentError, match=r"'qdd' has batch shape \(2,\), expected \(3,\) as for 'q'"):
        robot.inverse_dynamics(q, qd, qdd[:2])
    with pytest.raises(ArgumentError, match=r"argument 'q' has dtype torch\.complex128"):
        robot.crba(q.to(torch.complex128))
    with pytest.raises(ArgumentError, match="'q' is on meta, expected cpu"):
        robot.crba(q.to("meta"))
    with pytest.raises(ArgumentError, match=r"'q' has layout torch\.sparse_coo, expected a dense tensor"):
        robot.crba(q.detach().to_sparse())
    with pytest.raises(NoDerivativeError, match="'ee_offsets' is read before the call"):
        robot.end_effector_pose_runtime(q, ["ball"], torch.zeros(3, requires_grad=True))
    with pytest.raises(NoDerivativeError, match="'ee_offsets' is read before the call"):
        robot.end_effector_pose_runtime(q, ["ball"], [torch.zeros(3, requires_grad=True)])
    with pytest.raises(NotAvailableError, match="no 'pinned_empty': frameworks own the memory"):
        robot.pinned_empty((3,))
    with pytest.raises(NotAvailableError, match="capture records CUDA graphs"):
        robot.capture("crba", q)
    with pytest.raises(NotAvailableError, match="output_layout='batch_last'"):
        robot.output_layout = "batch_last"
    assert robot.crba(q.float()).dtype == DOUBLE


def test_service_methods(robot: Any, numpy_robot: Any) -> None:
    assert robot.backend == "torch"
    assert (robot.nq, robot.joint_names, robot.dtype) == (numpy_robot.nq, numpy_robot.joint_names, "float64")
    assert isinstance(robot.neutral(), torch.Tensor)
    assert repr(robot).startswith("<TorchRobotHandle ")
    other = robot.context()
    assert (other.ctx_id > 0, type(other).__name__) == (True, "TorchRobotHandle")
    other.threads = 1
    q, *_ = motion(robot)
    np.testing.assert_array_equal(other.crba(q).detach(), robot.crba(q).detach())
    other.close()
    with pytest.raises(RuntimeError, match="closed"):
        other.crba(q)
