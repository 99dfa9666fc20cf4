"""CUDA graphs of methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from grid_backends.errors import NotAvailableError, StaleModelError

if TYPE_CHECKING:
    from grid_backends.torch.handle import TorchRobotHandle

WARM_UP = 3
"""Calls before recording: units are loaded and memory is taken outside of the graph."""


class GraphCallable:
    """A recorded method: copies new arguments into its own, repeats the work, and returns its own results.

    Attributes
    ----------
    static_in : tuple of tensor
        The arguments that the graph reads.
    static_out : tensor or tuple of tensor
        The results that it writes; the next replay overwrites them.
    """

    def __init__(self, handle: TorchRobotHandle, graph: torch.cuda.CUDAGraph, static_in: Any, static_out: Any) -> None:
        self.static_in, self.static_out = static_in, static_out
        self._handle, self._graph = handle, graph
        self._version = handle.model_version

    def replay(self) -> Any:
        """Repeat the work on what ``static_in`` holds.

        Raises
        ------
        StaleModelError
            Run-time parameters of the robot were changed since it was recorded.
        """
        if self._handle.model_version != self._version:
            raise StaleModelError(
                f"robot {self._handle.name!r}: parameters were changed (model_version {self._handle.model_version}, "
                f"recorded with {self._version}); capture the method again"
            )
        self._graph.replay()
        return self.static_out

    def replay_into(self, host: Any) -> Any:
        """Repeat the work and copy the results into tensors in host memory, in the order of the stream."""
        results = self.replay()
        for target, source in zip(_tuple(host), _tuple(results), strict=True):
            target.copy_(source, non_blocking=True)
        return host

    def __call__(self, *inputs: torch.Tensor) -> Any:
        for target, source in zip(self.static_in, inputs, strict=True):
            target.copy_(source)
        return self.replay()


def captured(
    handle: TorchRobotHandle, method: str, inputs: tuple[torch.Tensor, ...], kwargs: Mapping[str, Any]
) -> GraphCallable:
    """Record a method of a handle; see :meth:`TorchRobotHandle.capture`."""
    if not handle.device.startswith("cuda"):
        raise NotAvailableError(
            f"robot {handle.name!r}: capture records CUDA graphs, and the robot is on {handle.device!r}; register it "
            "with device='cuda', or call the method"
        )
    call = getattr(handle, method)
    static_in = tuple(tensor.detach().clone() for tensor in inputs)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(WARM_UP):
            call(*static_in, **kwargs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        static_out = call(*static_in, **kwargs)
    return GraphCallable(handle, graph, static_in, static_out)


def _tuple(value: Any) -> tuple[torch.Tensor, ...]:
    return (value,) if isinstance(value, torch.Tensor) else tuple(value)
