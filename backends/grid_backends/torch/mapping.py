"""Operators under ``torch.func.vmap``: the mapped axis is one more batch axis of a single call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet, _ExcludeDispatchKeyGuard
from torch._C._functorch import _add_batch_dim, _unwrap_batched, current_level

from grid_backends.frameworks.batches import aligned, mapped_shapes
from grid_backends.frameworks.operation import Operation
from grid_backends.torch.outputs import Tensors, several, single

_MAPPED = DispatchKeySet(DispatchKey.FuncTorchBatched)


def mapped(operation: Operation, operator: Any) -> Callable[..., Any]:
    """Return the kernel of an operator for tensors that a level of ``vmap`` maps.

    It does what a rule of ``torch.library.register_vmap`` does, without the 40 microseconds around it.
    """

    def kernel(*tensors: torch.Tensor) -> Any:
        level = current_level()
        plain, axes = zip(*[_unwrap_batched(tensor, level) for tensor in tensors])
        with _ExcludeDispatchKeyGuard(_MAPPED):
            if axes.count(None) == len(axes):
                return operator(*plain)
            outputs = several(operator(*_spread(operation, plain, axes)))
        return single([_add_batch_dim(output, 0, level) for output in outputs])

    return kernel


def _spread(operation: Operation, tensors: Tensors, axes: Sequence[int | None]) -> Sequence[torch.Tensor]:
    """Return the tensors with the mapped axis in front, expanded where their batch axes are not those of the others."""
    moved = [tensor.movedim(axis, 0) if axis else tensor for tensor, axis in zip(tensors, axes)]
    flags = [axis is not None for axis in axes]
    further = [tensor.ndim - n - is_mapped for tensor, n, is_mapped in zip(moved, operation.axes, flags)]
    if not any(further):
        return moved
    shapes = [tensor.shape[1:] if is_mapped else tensor.shape for tensor, is_mapped in zip(moved, flags)]
    size = next(tensor.shape[0] for tensor, is_mapped in zip(moved, flags) if is_mapped)
    targets = mapped_shapes(operation.arguments, shapes, flags, size)
    return [
        tensor if target is None else tensor.reshape(aligned(tensor.shape, target, is_mapped)).expand(target)
        for tensor, target, is_mapped in zip(moved, targets, flags)
    ]
