"""Operations under the transforms of ``torch.func``, which take functions of autograd instead of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from grid_backends.frameworks.batches import aligned, mapped_shapes
from grid_backends.frameworks.operation import Operation

Tensors = tuple[torch.Tensor, ...]
Call = Callable[[Operation, Sequence[torch.Tensor]], Tensors]


def function_of(operation: Operation, evaluate: Call, call: Call, backward: Callable[..., Any]) -> Any:
    """Return the function of autograd that stands for an operation.

    Parameters
    ----------
    evaluate : callable
        Calls the operator on tensors that no transform follows.
    call : callable
        Calls an operation under whatever transforms there are.
    backward : callable
        The rule of the operator.
    """

    def forward(*tensors: torch.Tensor) -> Any:
        return _result(evaluate(operation, tensors))

    def setup_context(ctx: Any, inputs: Tensors, output: Any) -> None:  # noqa: ARG001
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def jvp(ctx: Any, *rates: torch.Tensor | None) -> Any:
        tensors = dict(zip(operation.given, ctx.saved_tensors))
        given = {name: rate for name, rate in zip(operation.given, rates) if rate is not None}
        derived = operation.rates(tuple(given))
        results = call(derived.operation, [*(tensors[name] for name in derived.kept), *given.values()])
        return _result(tuple(results[at] for at in derived.picked))

    def vmap(info: Any, in_dims: tuple[int | None, ...], *tensors: torch.Tensor) -> Any:
        """Make the mapped axis one more batch axis of a single call."""
        moved = [t if d is None else t.movedim(d, 0) for t, d in zip(tensors, in_dims)]
        flags = [d is not None for d in in_dims]
        shapes = [t.shape[1:] if is_mapped else t.shape for t, is_mapped in zip(moved, flags)]
        targets = mapped_shapes(operation.arguments, shapes, flags, info.batch_size)
        spread = [
            t if target is None else t.reshape(aligned(t.shape, target, is_mapped)).expand(target)
            for t, target, is_mapped in zip(moved, targets, flags)
        ]
        results = call(operation, spread)
        return _result(results), _result((0,) * len(results))

    methods = {"forward": forward, "setup_context": setup_context, "backward": backward, "jvp": jvp, "vmap": vmap}
    body = {name: staticmethod(method) for name, method in methods.items()}
    return type(operation.key, (torch.autograd.Function,), body)


def _result(values: tuple[Any, ...]) -> Any:
    return values if len(values) > 1 else values[0]
