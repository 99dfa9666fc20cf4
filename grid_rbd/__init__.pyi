"""The public names and where each is imported from, when it is first used."""

import typing

from .archives import export_robots as export_robots
from .archives import import_robots as import_robots
from .artifacts import build_artifact as build_artifact
from .artifacts import list_artifacts as list_artifacts
from .artifacts import load_artifact as load_artifact
from .errors import AlgorithmNotBuiltError as AlgorithmNotBuiltError
from .errors import ArchiveError as ArchiveError
from .errors import ArgumentError as ArgumentError
from .errors import ArtifactIncompatibleError as ArtifactIncompatibleError
from .errors import ArtifactNotFoundError as ArtifactNotFoundError
from .errors import BuildOptionError as BuildOptionError
from .errors import CallError as CallError
from .errors import ClosedHandleError as ClosedHandleError
from .errors import CompileError as CompileError
from .errors import ConsumerArtifactError as ConsumerArtifactError
from .errors import CorruptEntryError as CorruptEntryError
from .errors import CudaError as CudaError
from .errors import DescriptionNotFoundError as DescriptionNotFoundError
from .errors import DeviceMemoryError as DeviceMemoryError
from .errors import EntryMissingError as EntryMissingError
from .errors import FrameworkMissingError as FrameworkMissingError
from .errors import GridError as GridError
from .errors import KeywordError as KeywordError
from .errors import MimicResolutionError as MimicResolutionError
from .errors import NoDerivativeError as NoDerivativeError
from .errors import NotAvailableError as NotAvailableError
from .errors import NotInTiersError as NotInTiersError
from .errors import OptionError as OptionError
from .errors import OutOfMemoryError as OutOfMemoryError
from .errors import PluginError as PluginError
from .errors import PublishError as PublishError
from .errors import ReadOnlyError as ReadOnlyError
from .errors import RefusedRecordError as RefusedRecordError
from .errors import RobotNotRegisteredError as RobotNotRegisteredError
from .errors import RunnerMissingError as RunnerMissingError
from .errors import StaleModelError as StaleModelError
from .errors import StaleRobotError as StaleRobotError
from .errors import StoreDegradedWarning as StoreDegradedWarning
from .errors import StoreError as StoreError
from .errors import StoreUnavailableError as StoreUnavailableError
from .errors import StoreWriteError as StoreWriteError
from .errors import TierSettingsError as TierSettingsError
from .errors import TierUnavailableError as TierUnavailableError
from .errors import ToolchainError as ToolchainError
from .errors import ToolchainMismatchError as ToolchainMismatchError
from .errors import UnitError as UnitError
from .errors import UnknownMethodError as UnknownMethodError
from .errors import UnphysicalInertiaWarning as UnphysicalInertiaWarning
from .errors import UnsafeStoreError as UnsafeStoreError
from .errors import UnsupportedJointTypeError as UnsupportedJointTypeError
from .errors import URDFParseError as URDFParseError
from .errors import URDFWarning as URDFWarning
from .fleet import build_many as build_many
from .fleet import precompile as precompile
from .header import generate_header as generate_header
from .identification import base_parameters as base_parameters
from .lookup import get_robot as get_robot
from .maintenance import default_cache_dir as default_cache_dir
from .maintenance import gc_cache as gc_cache
from .maintenance import list_registered as list_registered
from .planning import build_plan as build_plan
from .pushing import push_robots as push_robots
from .registering import load_robot as load_robot
from .registering import register_robot as register_robot
from .repairing import repair_cache as repair_cache
from .repairing import verify_cache as verify_cache
from .sharding import build_from_plan as build_from_plan
from .tuning import tune_robot as tune_robot
from .types import BaseParameters as BaseParameters
from .types import ConsumerArtifact as ConsumerArtifact
from .types import RobotHandle as RobotHandle
from .warming import warm_robot as warm_robot

__version__: str

def __getattr__(name: str) -> type[tuple[typing.Any, ...]]: ...  # a class of results
