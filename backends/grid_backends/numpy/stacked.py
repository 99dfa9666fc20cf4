"""Arguments that hold those of another method one after another: ``x`` is cut into ``q`` and ``qd`` without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from grid_backends.numpy.signature import Signature
from grid_core.errors import ArgumentError


def unstack(signature: Signature, callee: Signature, name: str, array: Any) -> dict[str, Any]:
    """Return views of an argument of a method, by the names that they have in the method that it calls.

    Raises
    ------
    ArgumentError
        Its last axis has another length.
    """
    (argument,) = (a for a in signature.inputs if a.name == name)
    shape = tuple(array.shape)
    if shape[-1:] != (argument.size,):
        raise ArgumentError(
            f"{signature.name}: argument {name!r} has shape {shape}, expected shape {argument.symbols} = {argument}"
        )
    return {part: array[..., span] for part, span in spans(signature, callee, name)}


def spans(signature: Signature, callee: Signature, name: str) -> Iterator[tuple[str, slice]]:
    """Yield the inputs of the callee that an argument holds, and where."""
    choice = signature.algorithm.choice
    assert choice is not None
    sizes = {a.name: a.size for a in callee.inputs}
    ends = accumulate(sizes[part] for part in choice.stacked[name])
    yield from ((part, slice(end - sizes[part], end)) for part, end in zip(choice.stacked[name], ends, strict=False))
