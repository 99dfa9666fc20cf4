"""The PyTorch handle of a robot."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch._C._functorch import is_functorch_wrapped_tensor

from grid_backends.frameworks import FrameworkHandle, Units
from grid_backends.frameworks.steps import Steps
from grid_backends.numpy.arguments import as_real
from grid_backends.numpy.record import RobotRecord
from grid_backends.torch.capture import GraphCallable, captured
from grid_backends.torch.ops import operator_of
from grid_backends.torch.outputs import Tensors, several
from grid_core.errors import ArgumentError


class TorchRobotHandle(FrameworkHandle):
    """A robot whose algorithms are methods on tensors: differentiable to any order.

    Tensors have to be on the device of the robot. On a GPU, calls are enqueued on the current stream.
    """

    framework = "torch"
    xp = SimpleNamespace(
        broadcast_to=torch.broadcast_to, concatenate=torch.concatenate, moveaxis=torch.movedim, stack=torch.stack
    )  # vmap has no rule for torch.moveaxis

    def __init__(self, record: RobotRecord, units: Units) -> None:
        self._place = torch.device(record.device)
        self._type = getattr(torch, record.dtype)
        self._asked: dict[str, tuple[int, tuple[Any, ...]]] = {}
        self._read_once: dict[str, tuple[Any, ...]] = {}
        super().__init__(record, units)
        self._parameters.watch(self._read_again)

    def _array(self, value: Any, method: str, argument: str) -> torch.Tensor:
        if isinstance(value, torch.Tensor) and self._fits(value):
            return value
        if not isinstance(value, torch.Tensor) and torch.compiler.is_dynamo_compiling():
            value = torch.as_tensor(value, device=self._place)  # compilers follow NumPy arrays too
        what = f"{method}: argument {argument!r}"
        if not isinstance(value, torch.Tensor):
            return torch.tensor(as_real(value, what, np.dtype(self.dtype)), dtype=self._type, device=self._place)
        if value.device.type != self._place.type:
            raise ArgumentError(
                f"{what} is on {value.device}, expected {self._place}, the device of the robot; move it there"
            )
        if value.layout is not torch.strided:
            raise ArgumentError(f"{what} has layout {value.layout}, expected a dense tensor; pass its to_dense()")
        if value.is_complex():
            raise ArgumentError(f"{what} has dtype {value.dtype}, expected {self._type} or another real dtype")
        return value.to(self._type)

    def _fits(self, tensor: torch.Tensor) -> bool:
        is_here = tensor.device.type == self._place.type
        return is_here and tensor.dtype is self._type and tensor.layout is torch.strided

    def _numbers(self, flat: list[float], shape: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor(flat, dtype=self._type, device=self._place).reshape(shape)

    def _is_tracked(self, value: Any) -> bool:
        if torch.compiler.is_dynamo_compiling():
            return isinstance(value, (torch.Tensor, np.ndarray))
        if not isinstance(value, torch.Tensor):
            return False
        is_known = value.device.type == "cpu" and not is_functorch_wrapped_tensor(value)
        return bool(value.requires_grad) or not is_known

    def _read(self, index: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if torch.compiler.is_dynamo_compiling():
            self._refuse_tracked(index, values)
            return self._read_once[self._reading(index, values)]
        return super()._read(index, values)

    @torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
    def _reading(self, index: int, values: tuple[Any, ...]) -> str:
        """Return where programs find what was read, at every call."""
        key = repr((index, values))
        self._read_once[key] = self._tensors(super()._read(index, values))
        self._asked[key] = index, values
        return key

    def _read_again(self) -> None:
        """Follow a change of parameters; what cannot be read any more is gone, and programs with it compile again."""
        for key, (index, values) in list(self._asked.items()):
            try:
                self._read_once[key] = self._tensors(super()._read(index, values))
            except ArgumentError:
                del self._read_once[key], self._asked[key]

    def _tensors(self, value: Any) -> Any:
        """Return what a reader gave as tensors: an array, nothing, or a tuple of arrays."""
        if value is None:
            return None
        if isinstance(value, tuple):
            return tuple(map(self._tensors, value))
        return torch.tensor(value, device=self._place)

    def _evaluate(self, name: str, given: tuple[str, ...], arrays: Tensors) -> Tensors:
        return several(getattr(torch.ops.grid_rbd, self._operator(name, given)).default(*arrays))

    @torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
    def _operator(self, name: str, given: tuple[str, ...]) -> str:
        """Return the name of the operator of an algorithm; compilers ask once and do not look inside."""
        operation = self._operation(name, given)
        operator_of(operation)
        return operation.key

    def _repeat(self, steps: Steps) -> Tensors:
        start, rows = steps.start(), steps.rows()
        state, results = start, []
        for step in range(steps.count):
            results.append(steps.advance(state, {name: array[step] for name, array in rows.items()}))
            state = results[-1][0]
        if not results:
            return steps.finished(start, [start.new_empty((0, *shape)) for shape in steps.shapes])
        return steps.finished(start, [torch.stack(arrays) for arrays in zip(*results)])

    def capture(self, method: str, *example_inputs: torch.Tensor, **kwargs: Any) -> GraphCallable:
        """Record a method on a GPU as a CUDA graph, which repeats it without work of the CPU.

        Parameters
        ----------
        method : str
            Name of a method.
        example_inputs : tensor
            Positional arguments; calls pass others of the same shapes.
        kwargs
            Keyword arguments, which stay as they are.

        Raises
        ------
        NotAvailableError
            The robot is not on a GPU.
        """
        return captured(self, method, example_inputs, kwargs)
