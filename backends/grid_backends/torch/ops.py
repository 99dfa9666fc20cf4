"""Operations as operators of PyTorch: kernels for CPU and CUDA, shapes for tracing, derivatives, and vmap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch

from grid_backends.frameworks.batches import common_batch
from grid_backends.frameworks.operation import Operation
from grid_backends.torch.derivatives import differentiated
from grid_backends.torch.mapping import mapped
from grid_backends.torch.outputs import Tensors, several, single
from grid_core.errors import GridError

NAMESPACE = "grid_rbd"

_library = torch.library.Library(NAMESPACE, "FRAGMENT")
_operators: dict[str, Any] = {}
_lock = threading.Lock()


def operator_of(operation: Operation) -> Any:
    """Return the operator of an operation, ``torch.ops.grid_rbd.<key>``: tensors in and out, one or a tuple of them."""
    known = _operators.get(operation.key)
    if known is None:
        with _lock:
            known = _operators.get(operation.key) or _defined(operation)
            _operators[operation.key] = known
    return known


def call(operation: Operation, tensors: Sequence[torch.Tensor]) -> Tensors:
    """Call an operation, so that PyTorch can differentiate, map or record it; return its outputs, also a single one."""
    return several(operator_of(operation)(*tensors))


def _defined(operation: Operation) -> Any:
    name = f"{NAMESPACE}::{operation.key}"
    parameters = ", ".join(f"Tensor {argument}" for argument in operation.given)
    count = len(operation.outputs)
    results = f"({', '.join(['Tensor'] * count)})" if count > 1 else "Tensor"
    _library.define(f"{operation.key}({parameters}) -> {results}", tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(operation.key, _unpacked(operation, _on_cpu), "CPU")
    _library.impl(operation.key, _unpacked(operation, _on_cuda), "CUDA")
    torch.library.register_fake(name, _unpacked(operation, _empty), lib=_library)
    operator = getattr(getattr(torch.ops, NAMESPACE), operation.key).default
    _library.impl(operation.key, differentiated(operation, operator, call), "Autograd", with_keyset=True)
    _library.impl(operation.key, mapped(operation, operator), "FuncTorchBatched")
    return operator


def _unpacked(operation: Operation, kernel: Callable[[Operation, Tensors], Tensors]) -> Callable[..., Any]:
    """Return a kernel of tensors, as operators have them."""
    return lambda *tensors: single(kernel(operation, tensors))


def _empty(operation: Operation, tensors: Tensors) -> Tensors:
    batch = common_batch(operation.arguments, [t.shape for t in tensors])
    first = tensors[0]
    return tuple([first.new_empty((*batch, *o.shape)) for o in operation.outputs])


def _rows(tensor: torch.Tensor, axes: int) -> torch.Tensor:
    """Return a contiguous tensor of at most one axis before those of a sample."""
    if tensor.ndim > axes + 1:
        tensor = tensor.reshape(prod(tensor.shape[: tensor.ndim - axes]), *tensor.shape[tensor.ndim - axes :])
    return tensor.contiguous()


def _on_cpu(operation: Operation, tensors: Tensors) -> Tensors:
    outputs = _empty(operation, tensors)
    arrays = operation.spread([t.detach().numpy() if t.requires_grad else t.numpy() for t in tensors])
    written = tuple([t.numpy() for t in outputs])
    if operation.function(arrays, written, operation.threads) is NotImplemented:  # several batch axes, or odd strides
        arrays = operation.spread([_rows(t.detach(), n).numpy() for t, n in zip(tensors, operation.axes)])
        written = tuple(_rows(t, len(o.shape)).numpy() for t, o in zip(outputs, operation.outputs))
        _check(operation.function(arrays, written, operation.threads), operation)
    return outputs


def _on_cuda(operation: Operation, tensors: Tensors) -> Tensors:
    outputs = _empty(operation, tensors)
    written = tuple(_rows(t, len(o.shape)) for t, o in zip(outputs, operation.outputs))
    stream = torch.cuda.current_stream(tensors[0].device).cuda_stream
    arrays = operation.spread([_rows(t.detach(), n) for t, n in zip(tensors, operation.axes)])
    _check(operation.function(arrays, written, stream, operation.threads), operation)
    return outputs


def _check(result: Any, operation: Operation) -> None:
    if result is NotImplemented:
        raise GridError(f"{operation.name}: the runner refused canonical arguments; this is a defect, please report it")
