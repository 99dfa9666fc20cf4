"""Errors of the front-ends. Every message names the item, the rule it broke and what to do next."""

from __future__ import annotations

from grid_core.errors import OptionError
from grid_store.errors import GridError

__all__ = [
    "BuildOptionError",
    "ClosedHandleError",
    "CudaError",
    "DeviceMemoryError",
    "FrameworkMissingError",
    "NotAvailableError",
    "ReadOnlyError",
    "RunnerMissingError",
    "StaleModelError",
    "UnitError",
    "UnknownMethodError",
]


class RunnerMissingError(GridError, ImportError):
    """The compiled runner was not built when the package was installed, or cannot be loaded."""


class FrameworkMissingError(GridError, ImportError):
    """The framework of a front-end is not installed."""


class UnitError(GridError, RuntimeError):
    """A compiled unit cannot be loaded, or does not match the declaration of its algorithm."""


class CudaError(GridError, RuntimeError):
    """There is no CUDA driver or no such device, or the driver failed."""


class DeviceMemoryError(CudaError, MemoryError):
    """A GPU has not enough free memory for a call."""


class StaleModelError(GridError, RuntimeError):
    """Something was recorded or traced with parameters of a robot that were changed since."""


class ClosedHandleError(GridError, RuntimeError):
    """A handle was used after ``close()``."""


class NotAvailableError(GridError, NotImplementedError, AttributeError):
    """A documented feature that this version does not have; to ``hasattr`` it is a missing attribute."""


class BuildOptionError(NotAvailableError, OptionError):
    """Something that a robot has only if it was built with an option; to ``hasattr`` it is a missing attribute."""


class ReadOnlyError(GridError, AttributeError):
    """An attribute of a handle was set that can only be read."""


class UnknownMethodError(GridError, AttributeError):
    """A handle was asked for something that no algorithm and no service is called."""
