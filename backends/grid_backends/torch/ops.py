"""Operations as operators of PyTorch: kernels for CPU and CUDA, shapes for tracing, derivatives, and vmap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch

from grid_backends.frameworks.batches import common_batch
from grid_backends.frameworks.operation import Operation
from grid_backends.torch.transforms import function_of
from grid_core.errors import GridError

Tensors = tuple[torch.Tensor, ...]

NAMESPACE = "grid_rbd"

_library = torch.library.Library(NAMESPACE, "FRAGMENT")
_operators: dict[str, Any] = {}
_functions: dict[str, Any] = {}
_lock = threading.Lock()


def operator_of(operation: Operation) -> Any:
    """Return the operator of an operation, ``torch.ops.grid_rbd.<key>``: tensors in and out, one or a tuple of them."""
    return _known(_operators, operation, _defined)


def call(operation: Operation, tensors: Sequence[torch.Tensor]) -> Tensors:
    """Call an operation, so that PyTorch can differentiate, map or record it; return its outputs, also a single one."""
    if transforming():
        function = _known(_functions, operation, _function)
        return several(function.apply(*tensors))
    return _evaluate(operation, tensors)


def _evaluate(operation: Operation, tensors: Sequence[torch.Tensor]) -> Tensors:
    return several(operator_of(operation)(*tensors))


def transforming() -> bool:
    """Whether a transform of ``torch.func`` is at work, which does not look into operators."""
    return bool(torch._C._are_functorch_transforms_active())  # noqa: SLF001 - autograd.Function asks the same


def several(result: Any) -> Tensors:
    """Return the outputs of an operator, also a single one."""
    return (result,) if isinstance(result, torch.Tensor) else tuple(result)


def _known(made: dict[str, Any], operation: Operation, make: Callable[[Operation], Any]) -> Any:
    """Return what stands for an operation; equal ones, of several handles too, share it."""
    known = made.get(operation.key)
    if known is None:
        with _lock:
            known = made.get(operation.key) or make(operation)
            made[operation.key] = known
    return known


def _function(operation: Operation) -> Any:
    return function_of(operation, _evaluate, call, _backward(operation))


def _defined(operation: Operation) -> Any:
    name = f"{NAMESPACE}::{operation.key}"
    parameters = ", ".join(f"Tensor {argument}" for argument in operation.given)
    count = len(operation.outputs)
    results = f"({', '.join(['Tensor'] * count)})" if count > 1 else "Tensor"
    _library.define(f"{operation.key}({parameters}) -> {results}", tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(operation.key, _unpacked(operation, _on_cpu), "CPU")
    _library.impl(operation.key, _unpacked(operation, _on_cuda), "CUDA")
    torch.library.register_fake(name, _unpacked(operation, _empty), lib=_library)
    torch.library.register_autograd(name, _backward(operation), setup_context=_save, lib=_library)
    return getattr(getattr(torch.ops, NAMESPACE), operation.key).default


def _unpacked(operation: Operation, kernel: Callable[[Operation, Tensors], Tensors]) -> Callable[..., Any]:
    """Return a kernel of one output, or of a tuple of several."""
    if len(operation.outputs) > 1:
        return lambda *tensors: kernel(operation, tensors)
    return lambda *tensors: kernel(operation, tensors)[0]


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


def _save(ctx: Any, inputs: Tensors, output: Any) -> None:  # noqa: ARG001
    ctx.save_for_backward(*inputs)


def _backward(operation: Operation) -> Callable[..., Any]:
    """Return the rule that an operation is differentiated by: one call of the product with slopes along its outputs."""

    def backward(ctx: Any, *slopes: torch.Tensor | None) -> Any:
        tensors = dict(zip(operation.given, ctx.saved_tensors))
        moving = tuple(name for name, needed in zip(operation.given, ctx.needs_input_grad) if needed)
        given = {o.name: s for o, s in zip(operation.outputs, slopes) if s is not None}
        found: dict[str, torch.Tensor] = {}
        if moving and given:
            derived = operation.slopes(moving, tuple(given))
            results = call(derived.operation, [*(tensors[name] for name in derived.kept), *given.values()])
            found = {name: results[at] for name, at in zip(moving, derived.picked)}
        gradients = tuple(_shared(found.get(a.name), tensors[a.name], len(a.shape)) for a in operation.arguments)
        return gradients if len(gradients) > 1 else gradients[0]

    return backward


def _shared(slope: torch.Tensor | None, tensor: torch.Tensor, axes: int) -> torch.Tensor | None:
    """Return the slope along an argument, which is a sum if all samples share it."""
    if slope is None or slope.ndim == tensor.ndim:
        return slope
    return slope.sum(tuple(range(slope.ndim - axes)))
