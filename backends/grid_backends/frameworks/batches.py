"""Batch axes of the arguments of an operation: equal in all that have some."""

from __future__ import annotations

from collections.abc import Sequence

from grid_backends.numpy.signature import Argument, Signature
from grid_core.errors import ArgumentError

Shape = tuple[int, ...]


def batch_of(shape: Sequence[int], argument: Argument) -> Shape:
    """Return the leading axes of an array that has the argument's shape behind them."""
    return tuple(shape[: len(shape) - len(argument.shape)])


def common_batch(arguments: Sequence[Argument], shapes: Sequence[Sequence[int]]) -> Shape:
    """Return the batch axes of a call whose arguments were checked."""
    for argument, shape in zip(arguments, shapes):
        if len(shape) > len(argument.shape):
            return batch_of(shape, argument)
    return ()


def check_shapes(signature: Signature, arguments: Sequence[Argument], shapes: Sequence[Shape]) -> Shape:
    """Return the batch axes of a call.

    Raises
    ------
    ArgumentError
        An array has another shape, or batch axes differ.
    """
    batch: Shape = ()
    first = ""
    for argument, shape in zip(arguments, shapes):
        axes = len(shape) - len(argument.shape)
        if axes < 0 or shape[axes:] != argument.shape:
            raise ArgumentError(
                f"{signature.name}: argument {argument.name!r} has shape {tuple(shape)}, expected shape "
                f"{argument.symbols} = {argument}"
            )
        if axes and not batch:
            batch, first = shape[:axes], argument.name
        elif axes and shape[:axes] != batch:
            raise ArgumentError(
                f"{signature.name}: argument {argument.name!r} has batch shape {tuple(shape[:axes])}, expected "
                f"{tuple(batch)} as for {first!r}; batch axes are equal in all arguments, or absent in those that all "
                "samples share"
            )
    return batch


def mapped_shapes(
    arguments: Sequence[Argument], shapes: Sequence[Sequence[int]], mapped: Sequence[bool], size: int
) -> list[Shape | None]:
    """Return the shapes to broadcast the arguments of a mapped call to; ``None`` where they stay as they are.

    Parameters
    ----------
    shapes : sequence
        Of one mapped sample.
    mapped : sequence of bool
        Which arguments have the mapped axis, in front of these shapes.
    size : int
        Length of the mapped axis.
    """
    batch = common_batch(arguments, shapes)
    found: list[Shape | None] = []
    for argument, shape, is_mapped in zip(arguments, shapes, mapped):
        own = len(shape) - len(argument.shape)
        stays = own == len(batch) if is_mapped else own == 0
        found.append(None if stays else (size, *batch, *argument.shape))
    return found


def aligned(shape: Sequence[int], target: Shape, is_mapped: bool) -> Shape:
    """Return the shape in which an array broadcasts to the target, its mapped axis, if it has one, in front."""
    missing = (1,) * (len(target) - len(shape))
    return (shape[0], *missing, *shape[1:]) if is_mapped else (*missing, *shape)
