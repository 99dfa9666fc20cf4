"""Functions of compiled units, for whatever device a robot is on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grid_backends.numpy.cuda import device_index, open_cuda_unit
from grid_backends.numpy.record import Call, RobotRecord
from grid_backends.numpy.signature import Signature
from grid_backends.numpy.units import open_unit


class UnitFunctions:
    """Opens the unit of an algorithm when it is first called.

    Parameters
    ----------
    record : RobotRecord
        The robot entry; its device is the one the functions run on.
    units : mapping of str to Path
        Compiled file of each algorithm that the entry holds.
    """

    def __init__(self, record: RobotRecord, units: Mapping[str, Path]) -> None:
        self._record = record
        self._units = units

    def get(self, name: str) -> Call | None:
        """Return the function of an algorithm, or ``None`` if the entry does not hold it."""
        path = self._units.get(name)
        return None if path is None else open_function(path, self._record.signatures[name], self._record.device)


def open_function(path: Path, signature: Signature, device: str) -> Call:
    """Return the function of an algorithm from its compiled file, for the device of a robot.

    Raises
    ------
    UnitError
        The unit cannot be opened or does not match the declared signature.
    RunnerMissingError
        The runner was not compiled.
    """
    if device.startswith("cuda"):
        return open_cuda_unit(path.parent, signature, device_index(device))
    return open_unit(path, signature)
