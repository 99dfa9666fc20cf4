"""Every error and warning that callers may want to catch, from all packages."""

from __future__ import annotations

from grid_backends.errors import FrameworkMissingError, NotAvailableError, StaleModelError
from grid_consumers.errors import ArtifactIncompatibleError, ArtifactNotFoundError, ConsumerArtifactError
from grid_core.errors import (
    AlgorithmNotBuiltError,
    ArgumentError,
    CompileError,
    DescriptionNotFoundError,
    GridError,
    KeywordError,
    MimicResolutionError,
    NoDerivativeError,
    OptionError,
    OutOfMemoryError,
    PluginError,
    RobotNotRegisteredError,
    StaleRobotError,
    ToolchainError,
    ToolchainMismatchError,
    UnsupportedJointTypeError,
    URDFParseError,
)
from grid_core.model import UnphysicalInertiaWarning

__all__ = [
    "AlgorithmNotBuiltError",
    "ArgumentError",
    "ArtifactIncompatibleError",
    "ArtifactNotFoundError",
    "CompileError",
    "ConsumerArtifactError",
    "DescriptionNotFoundError",
    "FrameworkMissingError",
    "GridError",
    "KeywordError",
    "MimicResolutionError",
    "NoDerivativeError",
    "NotAvailableError",
    "OptionError",
    "OutOfMemoryError",
    "PluginError",
    "RobotNotRegisteredError",
    "StaleModelError",
    "StaleRobotError",
    "ToolchainError",
    "ToolchainMismatchError",
    "URDFParseError",
    "UnphysicalInertiaWarning",
    "UnsupportedJointTypeError",
]
