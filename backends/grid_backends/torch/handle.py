"""The PyTorch handle of a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grid_backends.frameworks import FrameworkHandle, Units
from grid_backends.frameworks.steps import Steps
from grid_backends.numpy.arguments import as_real
from grid_backends.numpy.record import RobotRecord
from grid_backends.torch.capture import GraphCallable, captured
from grid_backends.torch.ops import call, operator_of, several, transforming
from grid_core.errors import ArgumentError

Tensors = tuple[torch.Tensor, ...]


class TorchRobotHandle(FrameworkHandle):
    """A robot whose algorithms are methods on tensors: differentiable to any order.

    Tensors have to be on the device of the robot. On a GPU, calls are enqueued on the current stream.
    """

    framework = "torch"
    xp = torch

    def __init__(self, record: RobotRecord, units: Units) -> None:
        self._place = torch.device(record.device)
        self._type = getattr(torch, record.dtype)
        super().__init__(record, units)

    def _array(self, value: Any, method: str, argument: str) -> torch.Tensor:
        if isinstance(value, torch.Tensor) and value.dtype is self._type and value.device.type == self._place.type:
            return value
        what = f"{method}: argument {argument!r}"
        if not isinstance(value, torch.Tensor):
            return torch.tensor(as_real(value, what, np.dtype(self.dtype)), dtype=self._type, device=self._place)
        if value.device.type != self._place.type:
            raise ArgumentError(
                f"{what} is on {value.device}, expected {self._place}, the device of the robot; move it there"
            )
        if value.is_complex():
            raise ArgumentError(f"{what} has dtype {value.dtype}, expected {self._type} or another real dtype")
        return value.to(self._type)

    def _numbers(self, flat: list[float], shape: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor(flat, dtype=self._type, device=self._place).reshape(shape)

    def _is_tracked(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and (value.requires_grad or value.device.type != "cpu")

    def _evaluate(self, name: str, given: tuple[str, ...], arrays: Tensors) -> Tensors:
        if transforming():
            return call(self._operation(name, given), arrays)
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
