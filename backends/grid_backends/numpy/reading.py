"""Arguments that a caller gives as names or choices, and a kernel takes as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid_backends.numpy.parameters import ParameterTables
from grid_backends.numpy.record import RobotRecord
from grid_backends.numpy.signature import Argument, Signature
from grid_core.errors import ArgumentError, PluginError
from grid_core.plugins.algorithm import Input
from grid_core.plugins.robot_view import RobotView

KEPT = 256
"""Readings that are kept for later calls with the same values."""


class Readings:
    """Reads arguments by the readers that an algorithm declares, and remembers what it read.

    Parameters
    ----------
    record : RobotRecord
        The robot entry.
    parameters : ParameterTables
        Where the tool of the handle is known.
    """

    def __init__(self, record: RobotRecord, parameters: ParameterTables) -> None:
        self._record = record
        self._parameters = parameters
        self._kept: dict[Any, tuple[Any, ...]] = {}

    def read(self, signature: Signature, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return one value per readable input of a call.

        Raises
        ------
        ArgumentError
            A name or choice does not exist; the message begins with the method.
        """
        tool = self._parameters.tool
        key = (signature.name, tool, *map(_key, values))
        try:
            return self._kept[key]
        except KeyError:
            read = self._read(signature, values, tool)
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = read
            return read
        except TypeError:  # of objects that are no keys
            return self._read(signature, values, tool)

    def _read(self, signature: Signature, values: tuple[Any, ...], tool: Any) -> tuple[Any, ...]:
        view = RobotView(self._record.model, self._record.settings, tool)
        given = dict(zip((i.name for i in signature.readable), values, strict=True))
        arguments = [a for a in signature.inputs if getattr(a.declared, "read", None) is not None]
        return tuple(_read_one(signature, a, view, given) for a in arguments)


def _key(value: Any) -> Any:
    """Return what tells a value from others; of lists and arrays, which may change, their content."""
    if value is None:
        return None
    if isinstance(value, list):
        return (list, *map(_key, value))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return (np.ndarray, value.shape, value.dtype.str, value.tobytes())
    return (type(value), value)


def _read_one(signature: Signature, argument: Argument, view: RobotView, given: dict[str, Any]) -> Any:
    """Return the array that a reader gives, or a tuple of them, one for each item of a list."""
    declared = argument.declared
    assert isinstance(declared, Input)
    assert declared.read is not None
    try:
        values = declared.read(view, given)
    except ArgumentError as error:
        raise ArgumentError(f"{signature.name}: {error}") from None
    if values is None and declared.absent is not None:
        return None
    array = np.array(values, signature.dtype)
    axes = array.ndim - len(argument.shape)
    if array.shape[max(axes, 0) :] != argument.shape or axes < declared.each:
        raise PluginError(
            f"algorithm {signature.name!r}: the reader of {argument.name!r} gave shape {array.shape}, expected "
            f"{argument.symbols}" + (" with an axis of items" if declared.each else "")
        )
    array.flags.writeable = False
    return tuple(array[item, ...] for item in range(len(array))) if declared.each else array
