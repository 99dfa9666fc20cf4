"""Derivatives of operators: what PyTorch calls in their place wherever something follows the numbers.

The kernel at the key ``Autograd`` serves backward and forward mode, and each level of ``torch.func.grad`` and ``jvp``.
``torch.library.register_autograd`` knows backward mode only: rates would be zero without a word, and the transforms of
``torch.func`` would fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._C import (
    _after_autograd_keyset,
    _any_requires_grad,
    _are_functorch_transforms_active,
    _AutoDispatchBelowAutograd,
)
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.forward_ad import _set_fwd_grad_enabled
from torch.autograd.function import _SingleLevelFunction

from grid_backends.frameworks.operation import Operation
from grid_backends.torch.outputs import Tensors, single

Call = Callable[[Operation, Sequence[torch.Tensor]], Tensors]
Below = Callable[[Any, Tensors], Any]
"""Calls an operator, with its dispatch keys, as if it had no kernel for derivatives."""


def differentiated(operation: Operation, operator: Any, call: Call) -> Callable[..., Any]:
    """Return the kernel of an operator for derivatives.

    Parameters
    ----------
    operator : torch.ops.OpOverload
    call : callable
        Calls the operator of another operation.
    """

    def below(keys: Any, tensors: Tensors) -> Any:
        with _AutoDispatchBelowAutograd():
            return operator.redispatch(keys & _after_autograd_keyset, *tensors)

    function = _function(operation, below, call)

    def kernel(keys: Any, *tensors: torch.Tensor) -> Any:
        if not _followed(tensors):
            return below(keys, tensors)
        with enable_single_level_autograd_function():
            return function.apply(keys, *tensors)

    return kernel


def _followed(tensors: Tensors) -> bool:
    """Whether derivatives may be asked for: of one of the tensors, in forward mode, or at a level of ``torch.func``."""
    if _are_functorch_transforms_active() or forward_ad._current_level >= 0:  # noqa: SLF001 - it has no other name
        return True
    return torch.is_grad_enabled() and bool(_any_requires_grad(*tensors))


class _Function(_SingleLevelFunction):  # type: ignore[misc]
    """A function of autograd that leaves the other levels of ``torch.func`` to the dispatcher, as operators do."""

    _compiled_autograd_key = torch.autograd.Function._compiled_autograd_key  # noqa: SLF001 - nor has this


def _function(operation: Operation, below: Below, call: Call) -> Any:
    """Return the function of autograd: dispatch keys and tensors in, one tensor or a tuple of several out."""

    def forward(keys: Any, *tensors: torch.Tensor) -> Any:
        with (
            torch.enable_grad(),
            _set_fwd_grad_enabled(True),
        ):  # both are off here, for levels further out too
            return below(keys, tensors)

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG001
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    def backward(ctx: Any, *slopes: torch.Tensor | None) -> Any:
        _, *needed = ctx.needs_input_grad
        return (None, *_slopes(operation, call, ctx.saved_tensors, needed, slopes))

    def jvp(ctx: Any, _: None, *rates: torch.Tensor | None) -> Any:
        return single(_rates(operation, call, ctx.saved_tensors, rates))

    methods: dict[str, Callable[..., Any]] = {
        "forward": forward, "setup_context": setup_context, "backward": backward, "jvp": jvp
    }  # fmt: skip
    return type(operation.key, (_Function,), {name: staticmethod(method) for name, method in methods.items()})


def _slopes(
    operation: Operation,
    call: Call,
    tensors: Tensors,
    needed: Sequence[bool],
    slopes: Sequence[torch.Tensor | None],
) -> Sequence[torch.Tensor | None]:
    """Return slopes along the arguments that need them, from slopes along the outputs: one product."""
    values = dict(zip(operation.given, tensors))
    moving = tuple(name for name, is_needed in zip(operation.given, needed) if is_needed)
    given = {output.name: slope for output, slope in zip(operation.outputs, slopes) if slope is not None}
    if not moving or not given:
        return [None] * len(tensors)
    derived = operation.slopes(moving, tuple(given))
    results = call(derived.operation, [*(values[name] for name in derived.kept), *given.values()])
    found = {name: results[at] for name, at in zip(moving, derived.picked)}
    return [_shared(found.get(a.name), values[a.name], len(a.shape)) for a in operation.arguments]


def _shared(slope: torch.Tensor | None, tensor: torch.Tensor, axes: int) -> torch.Tensor | None:
    """Return the slope along an argument, which is a sum if all samples share it."""
    if slope is None or slope.ndim == tensor.ndim:
        return slope
    return slope.sum(tuple(range(slope.ndim - axes)))


def _rates(operation: Operation, call: Call, tensors: Tensors, rates: Sequence[torch.Tensor | None]) -> Tensors:
    """Return the rates of the outputs, from those of the arguments that move: one product, and nothing after it.

    Forward mode is off at this level meanwhile, and operators of PyTorch would leave it off for the levels further out.
    """
    values = dict(zip(operation.given, tensors))
    given = {name: rate for name, rate in zip(operation.given, rates) if rate is not None}
    derived = operation.rates(tuple(given))
    results = call(derived.operation, [*(values[name] for name in derived.kept), *given.values()])
    return tuple(results[at] for at in derived.picked)
