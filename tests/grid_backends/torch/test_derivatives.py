"""Derivatives in backward and forward mode, and those of ``torch.func`` inside one another, also compiled.

What is expected comes from loops over samples and from plain backward passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.autograd import forward_ad  # noqa: E402
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402

from tests.grid_backends.torch.calls import COMPILING, DOUBLE, Calls, motion, same, whole  # noqa: E402

pytestmark = COMPILING


class Plain:
    """Derivatives of torques along ``qd``, and of the sum of their squares, by backward passes of single samples."""

    def __init__(self, robot: Any, q: Any) -> None:
        self.robot, self.q = robot, q

    def each(self, rule: Callable[..., Any], qd: Any) -> Any:
        return torch.stack([rule(lambda v, at=at: self.robot.inverse_dynamics(at, v), v) for at, v in zip(self.q, qd)])

    def gradient(self, qd: Any) -> Any:
        return self.each(lambda f, v: torch.autograd.functional.jacobian(lambda v: f(v).square().sum(), v), qd)

    def jacobian(self, qd: Any) -> Any:
        return self.each(torch.autograd.functional.jacobian, qd)

    def hessian(self, qd: Any) -> Any:
        return self.each(lambda f, v: torch.autograd.functional.hessian(lambda v: f(v).square().sum(), v), qd)

    def bends(self, qd: Any) -> Any:
        """Return second derivatives of one torque."""
        return self.each(lambda f, v: torch.autograd.functional.hessian(lambda v: f(v)[-1], v), qd)


Case = tuple[Callable[..., Any], Callable[..., Any]]


def _effort(robot: Any) -> Callable[..., Any]:
    return lambda v, q: robot.inverse_dynamics(q, v).square().sum(-1)


def _torque(robot: Any) -> Callable[..., Any]:
    return lambda v, q: robot.inverse_dynamics(q, v)[..., -1]


def _torques(robot: Any) -> Callable[..., Any]:
    return lambda v, q: robot.inverse_dynamics(q, v)


def _rates(robot: Any) -> Callable[..., Any]:
    """Return rates of torques along ``qd`` itself."""
    return lambda v, q: jvp(lambda v: robot.inverse_dynamics(q, v), (v,), (v,))[1]


def _pulled(robot: Any) -> Callable[..., Any]:
    return lambda v, q: vjp(lambda v: robot.inverse_dynamics(q, v), v)[1](v)[0]


COMPOSED: dict[str, Case] = {
    "vmap(grad)": (lambda r: vmap(grad(_effort(r))), Plain.gradient),
    "grad(vmap)": (lambda r: grad(lambda v, q: vmap(_effort(r))(v, q).sum()), Plain.gradient),
    "grad": (lambda r: grad(lambda v, q: _effort(r)(v, q).sum()), Plain.gradient),
    "vmap(jacrev)": (lambda r: vmap(jacrev(_torques(r))), Plain.jacobian),
    "vmap(jacfwd)": (lambda r: vmap(jacfwd(_torques(r))), Plain.jacobian),
    "vmap(jvp)": (lambda r: vmap(_rates(r)), lambda p, v: (p.jacobian(v) @ v[..., None])[..., 0]),
    "jvp(vmap)": (
        lambda r: lambda v, q: jvp(lambda v: vmap(_torques(r))(v, q), (v,), (v,))[1],
        lambda p, v: (p.jacobian(v) @ v[..., None])[..., 0],
    ),
    "vmap(vjp)": (lambda r: vmap(_pulled(r)), lambda p, v: (v[:, None] @ p.jacobian(v))[:, 0]),
    "vmap(hessian)": (lambda r: vmap(hessian(_torque(r))), Plain.bends),
    "vmap(jacrev(jacrev))": (lambda r: vmap(jacrev(jacrev(_effort(r)))), Plain.hessian),
    "vmap(jacrev(jacfwd))": (lambda r: vmap(jacrev(jacfwd(_effort(r)))), Plain.hessian),
    "vmap(jacfwd(jacfwd))": (lambda r: vmap(jacfwd(jacfwd(_torque(r)))), Plain.bends),
    "vmap(grad(vmap))": (
        lambda r: lambda v, q: vmap(grad(lambda v, q: vmap(_effort(r))(v, q).sum()))(v[None], q[None])[0],
        Plain.gradient,
    ),
}


@pytest.mark.parametrize("compiler", [None, whole], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", COMPOSED)
def test_transforms_of_transforms(robot: Any, name: str, compiler: Any) -> None:
    q, qd, _ = motion(robot)
    make, expected = COMPOSED[name]
    function = make(robot) if compiler is None else compiler(make(robot))
    same(function(qd, q), expected(Plain(robot, q), qd))


FOLLOWED = ("vmap(grad)", "grad(vmap)", "vmap(jacrev)", "vmap(jacfwd)", "vmap(jvp)", "vmap(vjp)")


@pytest.mark.parametrize("compiler", [None, whole], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", FOLLOWED)
def test_backward_through_transforms(robot: Any, name: str, compiler: Any) -> None:
    """The gradient of a number made of a transform's result, against differences of that number."""
    q, qd, _ = motion(robot)
    make, _ = COMPOSED[name]
    function = make(robot) if compiler is None else compiler(make(robot))
    tracked = qd.clone().requires_grad_()
    (found,) = torch.autograd.grad(function(tracked, q).square().sum(), tracked)
    step = 1e-6 * torch.randn(qd.shape, generator=torch.Generator().manual_seed(2), dtype=DOUBLE)
    up, down = (make(robot)(qd + s, q).square().sum() for s in (step, -step))
    torch.testing.assert_close((found * step).sum(), (up - down) / 2, rtol=1e-6, atol=0.0)


def test_forward_mode_and_batched_derivatives(robot: Any) -> None:
    arguments = [a.requires_grad_() for a in motion(robot, 1)]
    modes = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert torch.autograd.gradcheck(robot.inverse_dynamics, arguments, **modes)
    assert torch.autograd.gradgradcheck(robot.inverse_dynamics, arguments, check_fwd_over_rev=True)
    with forward_ad.dual_level():
        moving = forward_ad.make_dual(arguments[1].detach(), arguments[2].detach())
        rates = forward_ad.unpack_dual(robot.inverse_dynamics(arguments[0].detach(), moving)).tangent
    expected = Plain(robot, arguments[0].detach()).jacobian(arguments[1].detach())
    same(rates, (expected @ arguments[2].detach()[..., None])[..., 0])


def test_only_what_moves_is_asked_for(robot: Any) -> None:
    """Rates along ``qd`` are no work along the other arguments; slopes of one output none along the other."""
    q, qd, _ = motion(robot)
    with Calls() as calls:
        jvp(lambda v: robot.inverse_dynamics(q, v), (qd,), (qd,))
    derived = robot._operation("inverse_dynamics", ("q", "qd", "gravity")).rates(("qd",)).operation
    assert calls.names[-1] == f"{derived.key}.default"
    q = q.requires_grad_()
    with Calls() as calls:
        robot.com(q)[0].sum().backward()
    position = robot._operation("com", ("q",)).outputs[0].name
    derived = robot._operation("com", ("q",)).slopes(("q",), (position,)).operation
    assert calls.names[-1] == f"{derived.key}.default"


def test_saved_arguments_are_guarded_and_let_go(robot: Any) -> None:
    q, qd, _ = motion(robot)
    velocity = qd.clone().requires_grad_() * 1.0
    effort = robot.inverse_dynamics(q, velocity).sum()
    velocity.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        effort.backward()
    again = robot.inverse_dynamics(q, qd.clone().requires_grad_()).sum()
    again.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        again.backward()
