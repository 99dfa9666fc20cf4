"""grid-rbd: from a robot description to the fastest batched rigid-body dynamics for that robot.

>>> import grid_rbd
>>> robot = grid_rbd.load_robot("iiwa14.urdf")           # seconds the first time, milliseconds after
>>> tau = robot.inverse_dynamics(q, qd, qdd)              # (B, 7)

Importing the package touches no path and starts no program.
"""

# ruff: noqa: E402 - what is imported is checked first

from __future__ import annotations

from pathlib import Path
from typing import Any

from grid_rbd.one_copy import check_one_copy

check_one_copy(Path(__file__).parent)

from grid_backends.errors import FrameworkMissingError, NotAvailableError, StaleModelError
from grid_backends.numpy import RobotHandle
from grid_consumers.artifact import ConsumerArtifact
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
from grid_core.version import __version__
from grid_rbd.archives import export_robots, import_robots
from grid_rbd.artifacts import build_artifact, list_artifacts, load_artifact
from grid_rbd.fleet import build_many, precompile
from grid_rbd.header import generate_header
from grid_rbd.identification import BaseParameters, base_parameters
from grid_rbd.lookup import get_robot
from grid_rbd.maintenance import default_cache_dir, gc_cache, list_registered
from grid_rbd.planning import build_plan
from grid_rbd.registering import load_robot, register_robot
from grid_rbd.repairing import repair_cache, verify_cache
from grid_rbd.sharding import build_from_plan
from grid_rbd.tuning import tune_robot
from grid_rbd.warming import warm_robot

__all__ = [
    "AlgorithmNotBuiltError",
    "ArgumentError",
    "ArtifactIncompatibleError",
    "ArtifactNotFoundError",
    "BaseParameters",
    "CompileError",
    "ConsumerArtifact",
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
    "RobotHandle",
    "RobotNotRegisteredError",
    "StaleModelError",
    "StaleRobotError",
    "ToolchainError",
    "ToolchainMismatchError",
    "URDFParseError",
    "UnphysicalInertiaWarning",
    "UnsupportedJointTypeError",
    "__version__",
    "base_parameters",
    "build_artifact",
    "build_from_plan",
    "build_many",
    "build_plan",
    "default_cache_dir",
    "export_robots",
    "gc_cache",
    "generate_header",
    "get_robot",
    "import_robots",
    "list_artifacts",
    "list_registered",
    "load_artifact",
    "load_robot",
    "precompile",
    "register_robot",
    "repair_cache",
    "tune_robot",
    "verify_cache",
    "warm_robot",
]


def __getattr__(name: str) -> type[tuple[Any, ...]]:
    """Return a class of results, such as ``SecondOrderID``; only these need the plugins."""
    if not name[:1].isupper():
        raise AttributeError(f"module 'grid_rbd' has no attribute {name!r}")
    from grid_rbd.results import declared_result

    return declared_result(name)
