"""The error tree of the core. Every message names the item, the rule it broke and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from grid_store.errors import GridError

__all__ = [
    "AlgorithmNotBuiltError",
    "ArgumentError",
    "CallError",
    "CompileError",
    "DescriptionNotFoundError",
    "GridError",
    "KeywordError",
    "MimicResolutionError",
    "OptionError",
    "OutOfMemoryError",
    "PluginError",
    "RobotNotRegisteredError",
    "StaleRobotError",
    "ToolchainError",
    "TraceError",
    "URDFParseError",
    "UnsupportedJointTypeError",
    "nearest",
]


class URDFParseError(GridError, ValueError):
    """A robot description breaks a rule; the message names element, rule, value and line."""


class DescriptionNotFoundError(URDFParseError, FileNotFoundError):
    """There is no such robot description."""


class MimicResolutionError(URDFParseError):
    """A mimic relation is cyclic or names a joint that does not exist."""


class UnsupportedJointTypeError(URDFParseError):
    """A joint type that the model cannot represent."""


class OptionError(GridError, ValueError):
    """An option or a combination of options is not valid."""


class KeywordError(OptionError, TypeError):
    """A keyword argument that a function does not take, at all or together with the others."""


class ArgumentError(GridError, ValueError):
    """A call argument has a wrong shape, dtype or value."""


class CallError(ArgumentError, TypeError):
    """A call with more arguments than a function takes."""


class OutOfMemoryError(GridError, MemoryError):
    """What was asked for takes more memory than there is; the message names argument, bytes and fix."""


class PluginError(GridError):
    """A plugin is missing, broken, in conflict or declares something impossible."""


class TraceError(GridError):
    """An algorithm's emitter did something that a kernel cannot express."""


class NoDerivativeError(TraceError, NotImplementedError):
    """An algorithm cannot be differentiated along an input that a gradient was asked for."""


class AlgorithmNotBuiltError(GridError, RuntimeError):
    """A handle was asked for an algorithm that its robot entry does not hold."""


class RobotNotRegisteredError(GridError, KeyError):
    """No robot of that name is registered in the store."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])


class StaleRobotError(GridError, RuntimeError):
    """A stored robot cannot be loaded by this process; ``reasons`` lists why."""

    def __init__(self, message: str, reasons: Iterable[str]) -> None:
        super().__init__(message)
        self.reasons = list(reasons)


class ToolchainError(GridError, RuntimeError):
    """No usable compiler; the message lists what was tried."""


class ToolchainMismatchError(ToolchainError):
    """A worker has another compiler, version or plugin than whoever made the plan."""


class CompileError(ToolchainError):
    """A compiler ran and failed; the message has the log's path and its last lines."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ``"; did you mean 'minv'?"`` for error messages, or ``""``.

    Names that contain the words of this one come before those that are spelled alike.
    """
    names = list(known)
    longer = [other for other in names if name and f"_{name}_" in f"_{other}_"]
    found = difflib.get_close_matches(name, longer, cutoff=0.0) + difflib.get_close_matches(name, names, cutoff=0.5)
    matches = list(dict.fromkeys(found))[:3]
    return f"; did you mean {' or '.join(repr(m) for m in matches)}?" if matches else ""
