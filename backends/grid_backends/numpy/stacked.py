"""Arguments that hold those of another method one after another: ``x`` is cut into ``q`` and ``qd`` without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from grid_backends.numpy.arguments import as_real
from grid_backends.numpy.signature import Signature
from grid_core.errors import ArgumentError

INTERFACE = "__cuda_array_interface__"


def unstack(signature: Signature, callee: Signature, name: str, value: Any) -> dict[str, Any]:
    """Return views of an argument of a method, by the names that they have in the method that it calls.

    Raises
    ------
    ArgumentError
        It is no array of real numbers, or its last axis has another length.
    """
    (argument,) = (a for a in signature.inputs if a.name == name)
    on_device = hasattr(value, INTERFACE)
    array = value if on_device else as_real(value, f"{signature.name}: argument {name!r}", signature.dtype)
    shape = tuple(array.shape)
    if shape[-1:] != (argument.size,):
        raise ArgumentError(
            f"{signature.name}: argument {name!r} has shape {shape}, expected shape {argument.symbols} = {argument}"
        )
    return {
        part: DevicePart(array, span) if on_device else array[..., span]
        for part, span in spans(signature, callee, name)
    }


def spans(signature: Signature, callee: Signature, name: str) -> Iterator[tuple[str, slice]]:
    """Yield the inputs of the callee that an argument holds, and where."""
    choice = signature.algorithm.choice
    assert choice is not None
    sizes = {a.name: a.size for a in callee.inputs}
    ends = accumulate(sizes[part] for part in choice.stacked[name])
    yield from ((part, slice(end - sizes[part], end)) for part, end in zip(choice.stacked[name], ends, strict=False))


class DevicePart:
    """A span of the last axis of an array in device memory."""

    def __init__(self, array: Any, span: slice) -> None:
        self._array, self._span = array, span

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        whole = dict(getattr(self._array, INTERFACE))
        shape, item = whole["shape"], int(whole["typestr"][2:])
        strides = whole.get("strides")
        if strides is None:
            strides = [item * size for size in accumulate((1, *shape[:0:-1]), lambda a, b: a * b)][::-1]
        address, read_only = whole["data"]
        start = self._span.start * strides[-1] if address else 0
        return whole | {
            "shape": (*shape[:-1], self._span.stop - self._span.start),
            "strides": tuple(strides),
            "data": (address + start, read_only),
        }
