"""Functions of units that were compiled for the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grid_backends.numpy.record import Call
from grid_backends.numpy.signature import Signature
from grid_core.plugins.algorithm import Input


def open_unit(path: Path, signature: Signature) -> Call:
    """Return the function of a unit.

    Raises
    ------
    UnitError
        The unit cannot be opened or does not match the signature.
    RunnerMissingError
        The runner was not compiled.
    """
    from grid_backends.native import Function, Unit

    return Function(Unit(str(path), signature.dtype.itemsize), *declared_arguments(signature), signature.result)


def declared_arguments(signature: Signature) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return inputs and outputs as the runner takes them."""
    inputs: list[tuple[Any, ...]] = []
    for argument in signature.inputs:
        declared = argument.declared
        assert isinstance(declared, Input)
        inputs.append((argument.name, argument.shape, declared.optional, declared.default, declared.scalar_slot))
    return inputs, [(o.name, o.shape) for o in signature.outputs]
