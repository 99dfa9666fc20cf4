"""Normalisation of call arguments: what a caller passes becomes canonical arrays, or an error that says what to change.

Canonical means: the build's dtype, aligned, C-contiguous, the declared per-sample shape as last axes, and one batch
axis or none. An array without batch axes is shared by all samples; all others have equal batch shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grid_backends.numpy.signature import Argument, Signature
from grid_core.errors import ArgumentError
from grid_core.plugins.algorithm import Input

Array = NDArray[Any]

CASTABLE = "fiub"
"""Kinds of dtypes that are cast to the build's: real, integer and boolean."""


@dataclass(frozen=True)
class Arguments:
    """The canonical inputs of one call.

    Parameters
    ----------
    arrays : tuple of ndarray or None
        Shape (B, *sample) or (*sample); ``None`` for an optional input that was left out.
    batch : tuple of int
        Batch axes of the call, before they were flattened to B.
    """

    arrays: tuple[Array | None, ...]
    batch: tuple[int, ...]


def normalise(signature: Signature, values: tuple[Any, ...]) -> Arguments:
    """Return canonical inputs.

    Raises
    ------
    ArgumentError
        A required argument is missing, or a dtype, a shape or a batch does not fit.
    """
    arrays = [_convert(signature, i, value) for i, value in zip(signature.inputs, values, strict=True)]
    batch = _common_batch(signature, arrays)
    flat = (prod(batch),) if batch else ()
    return Arguments(
        tuple(
            a.reshape(flat + i.shape) if a is not None and a.ndim > len(i.shape) else a
            for i, a in zip(signature.inputs, arrays, strict=True)
        ),
        batch,
    )


def _convert(signature: Signature, argument: Argument, value: Any) -> Array | None:
    declared = argument.declared
    assert isinstance(declared, Input)
    if value is None:
        value = declared.default
        if value is None and not declared.optional:
            raise _error(signature, argument, "is required and was not given")
        if value is None:
            return None
    array = as_real(value, f"{signature.name}: argument {argument.name!r}", signature.dtype)
    if array.ndim == 0 and (argument.size == 1 or declared.scalar_slot is not None or value is declared.default):
        return _vector(signature, argument, array)
    array = np.require(array, signature.dtype, ["C_CONTIGUOUS", "ALIGNED"])
    axes = len(argument.shape)
    if array.ndim < axes or array.shape[array.ndim - axes :] != argument.shape:
        hint = _width_hint(signature, declared, array.shape)
        raise _error(signature, argument, f"has shape {array.shape}", hint)
    return array


def as_real(value: Any, what: str, dtype: np.dtype[Any]) -> Array:
    """Return ``value`` as an array of real numbers of any dtype that may be cast to ``dtype``.

    Raises
    ------
    ArgumentError
        It is no array, ragged, masked, complex, text or an object; ``what`` begins the message.
    """
    if np.ma.is_masked(value):
        raise ArgumentError(
            f"{what} has {np.sum(value.mask)} masked entries, and what lies below a mask is no value; pass "
            "value.filled(...) with what is to stand for them"
        )
    try:
        array = np.asarray(value)
    except Exception as error:
        raise ArgumentError(
            f"{what}: a {type(value).__name__} cannot be read as an array ({error}); pass a NumPy array of {dtype}"
        ) from error
    if array.dtype.kind not in CASTABLE:
        raise ArgumentError(f"{what} has dtype {array.dtype}, expected {dtype} or another real dtype; convert it first")
    return array


def _vector(signature: Signature, argument: Argument, number: Array) -> Array:
    """Return the vector that a plain number stands for."""
    declared = argument.declared
    assert isinstance(declared, Input)
    if declared.scalar_slot is None:
        return np.full(argument.shape, number, signature.dtype)
    vector = np.zeros(argument.size, signature.dtype)
    vector[declared.scalar_slot] = number
    return vector.reshape(argument.shape)


def _common_batch(signature: Signature, arrays: list[Array | None]) -> tuple[int, ...]:
    shapes = {
        i.name: a.shape[: a.ndim - len(i.shape)]
        for i, a in zip(signature.inputs, arrays, strict=True)
        if a is not None and a.ndim > len(i.shape)
    }
    return common_batch(signature, shapes)


def common_batch(signature: Signature, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the batch axes of a call from those of its arguments; an argument without any is shared.

    Raises
    ------
    ArgumentError
        They are not equal.
    """
    batches = {name: shape for name, shape in shapes.items() if shape}
    if len(set(batches.values())) > 1:
        first, expected = next(iter(batches.items()))
        other, got = next((n, b) for n, b in batches.items() if b != expected)
        raise ArgumentError(
            f"{signature.name}: argument {other!r} has batch shape {got}, expected {expected} as for {first!r}; batch "
            "axes are equal in all arguments, or absent in those that all samples share"
        )
    return next(iter(batches.values()), ())


def _width_hint(signature: Signature, declared: Input, got: tuple[int, ...]) -> str:
    nq, nv = signature.dims.get("nq"), signature.dims.get("nv")
    if nq == nv or not got or not declared.shape:
        return ""
    if declared.shape[-1] == "nv" and got[-1] == nq:
        return f". Velocities, accelerations and forces are nv = {nv} wide, only configurations have nq = {nq} entries"
    if declared.shape[-1] == "nq" and got[-1] == nv:
        return f". Configurations are nq = {nq} wide: a quaternion has 4 entries and 3 rates, so nv = {nv}"
    return ""


def _error(signature: Signature, argument: Argument, what: str, hint: str = "") -> ArgumentError:
    expected = argument.symbols + (f" = {argument}" if argument.symbols != str(argument) else "")
    return ArgumentError(f"{signature.name}: argument {argument.name!r} {what}, expected shape {expected}{hint}")
