"""The front-ends by name: what a handle is made of, and which ones can be imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from grid_backends.errors import FrameworkMissingError
from grid_backends.numpy import RobotHandle, RobotRecord
from grid_core.errors import OptionError
from grid_core.plugins.algorithm import Algorithm
from grid_rbd.on_demand import UnitsOnDemand

if TYPE_CHECKING:
    from grid_core.build import RobotRequest
    from grid_store import Store

H = TypeVar("H", bound=RobotHandle)

FRAMEWORKS: Mapping[str, tuple[str, str]] = {
    "jax": ("grid_backends.jax", "JaxRobotHandle"),
    "torch": ("grid_backends.torch", "TorchRobotHandle"),
}
"""Backend -> the module and the class of its handles; the framework has the name of the backend."""

BACKENDS = ("numpy", *FRAMEWORKS)


def check_backend(backend: object) -> str:
    """Return a backend if it exists and its framework is installed.

    Raises
    ------
    OptionError
        There is no such backend.
    FrameworkMissingError
        Its framework is not installed.
    """
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise OptionError(f"backend is {backend!r}, expected one of {', '.join(BACKENDS)}")
    if backend in FRAMEWORKS and find_spec(backend) is None:
        raise FrameworkMissingError(
            f"backend={backend!r}: the package {backend!r} is not installed; pip install 'grid-rbd[{backend}]', or use "
            "backend='numpy'"
        )
    return backend


def framework_handle(
    backend: str, record: RobotRecord, request: RobotRequest, store: Store, built: Mapping[str, Path], *, lazy: bool
) -> RobotHandle:
    """Return the handle of a robot in a framework."""
    module, name = FRAMEWORKS[backend]
    units = StoredUnits(record.name, request, store, built, lazy=lazy)
    handle: RobotHandle = getattr(import_module(module), name)(record, units)
    return handle


class FrameworkFunctions(Generic[H]):
    """The public functions for one framework.

    Parameters
    ----------
    backend : str
        Its name.
    """

    def __init__(self, backend: str) -> None:
        self._backend = check_backend(backend)

    def register_robot(self, name: str, urdf_path: str | Path | None = None, **options: Any) -> H:
        """As :func:`grid_rbd.register_robot`, without ``backend``."""
        import grid_rbd

        return cast("H", grid_rbd.register_robot(name, urdf_path, backend=self._backend, **options))

    def load_robot(self, urdf_path: str | Path | None = None, **options: Any) -> H:
        """As :func:`grid_rbd.load_robot`, without ``backend``."""
        import grid_rbd

        return cast("H", grid_rbd.load_robot(urdf_path, backend=self._backend, **options))

    def get_robot(self, name: str, cache_dir: str | Path | None = None, **options: Any) -> H:
        """As :func:`grid_rbd.get_robot`, without ``backend``."""
        import grid_rbd

        return cast("H", grid_rbd.get_robot(name, cache_dir, backend=self._backend, **options))


class StoredUnits:
    """Units of a robot in the store; see :class:`grid_backends.frameworks.Units`."""

    def __init__(
        self, name: str, request: RobotRequest, store: Store, built: Mapping[str, Path], *, lazy: bool
    ) -> None:
        self.identity = f"{request.identity().digest} in {store.root}"
        self.store = store
        self._built, self._lazy = built, lazy
        self._on_demand = UnitsOnDemand(name, request, store, built)

    def declared(self, name: str) -> Path | None:
        """Return the unit of a declared algorithm, ``None`` if the robot does not hold it."""
        return self._on_demand.path(name) if self._lazy else self._built.get(name)

    def product(self, chain: Sequence[Algorithm]) -> Path:
        """Return the unit of the last algorithm, building it if need be; each follows from the one before."""
        return self._on_demand.path(chain[-1].name, chain[1:])
