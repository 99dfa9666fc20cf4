"""Functions of compiled units."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grid_backends.numpy.record import Call, RobotRecord
from grid_backends.numpy.signature import Signature
from grid_core.plugins.algorithm import Input


class UnitFunctions:
    """Opens the unit of an algorithm when it is first called.

    Parameters
    ----------
    record : RobotRecord
        The robot entry.
    units : mapping of str to Path
        Shared object of each algorithm that the entry holds.
    """

    def __init__(self, record: RobotRecord, units: Mapping[str, Path]) -> None:
        self._record = record
        self._units = units

    def get(self, name: str) -> Call | None:
        """Return the function of an algorithm, or ``None`` if the entry does not hold it."""
        path = self._units.get(name)
        return None if path is None else open_unit(path, self._record.signatures[name])


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
