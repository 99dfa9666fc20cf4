from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

@final
class Unit:
    """A compiled unit, open as long as this object or a function of it lives."""

    def __init__(self, path: str, scalar_bytes: int = 0) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def scalar_bytes(self) -> int: ...
    @property
    def lanes(self) -> int: ...
    @property
    def functions(self) -> list[dict[str, Any]]: ...

@final
class Function:
    """Calls the cheapest function of a unit that takes the arguments; NotImplemented if they are not canonical."""

    def __init__(
        self,
        unit: Unit,
        inputs: Sequence[tuple[Any, ...]],
        outputs: Sequence[tuple[Any, ...]],
        result: type[tuple[Any, ...]] | None = None,
    ) -> None: ...
    def __call__(self, arguments: tuple[Any, ...], out: Any = None, threads: int = 1, /) -> Any: ...
    def set_batch_last(self, value: bool) -> None:
        """Say whether the batch is contiguous in new arrays for results, instead of the samples."""

@final
class DeviceArray:
    """A result in device memory, contiguous in C order or, on request, with the batch last in memory.

    Libraries read it without a copy through ``__cuda_array_interface__`` or DLPack. Its memory serves later calls on
    the same stream once nobody holds the array.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> str:
        """Such as ``"cuda:0"``."""
    @property
    def stream(self) -> int:
        """Handle of the stream that its contents are made on."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def numpy(self) -> NDArray[Any]:
        """Return a copy in host memory; waits for the contents."""

@final
class DevicePart:
    """A part of a device array of any library, which it keeps; an argument or ``out`` of calls like any other."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> str:
        """Such as ``"f4"``."""
    @property
    def device(self) -> int:
        """Index of its device; -1 where its library does not say."""
    @property
    def stream(self) -> int | None:
        """Handle of the stream that its contents are made on, where its library says."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __getitem__(self, index: Any) -> DevicePart:
        """Return a part by integers, slices and an ellipsis."""
    def joined(self, axes: int) -> DevicePart:
        """Return it with the first axes as one, which a single row gets too."""

def device_part(array: Any, stream: Any = None) -> DevicePart | None:
    """Return the whole of a device array; None if it is none. ``stream`` is the one that will use it."""

def device_empty(shape: Sequence[int], dtype: np.dtype[Any], device: int, stream: Any) -> DeviceArray:
    """Return a new array for work on a stream."""

def copy_parts(target: DevicePart, source: DevicePart, batch_axes: int, device: int, stream: Any) -> None:
    """Enqueue a copy of samples between arrays of one dtype, of each one or of one to all."""

def stream_handle(stream: Any) -> int | None:
    """Return the handle of a stream object of any library, or None for None."""

@final
class CudaUnit:
    """The kernels of one algorithm in a fat binary. A device is first used when they are."""

    def __init__(self, path: str, description: str, device: int = 0, scalar_bytes: int = 0) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def machine(self) -> list[int]:
        """Compute capabilities that it has machine code for: 90 for 9.0."""
    @property
    def portable(self) -> list[int]:
        """Compute capabilities that it has PTX for, which the driver compiles for newer ones."""
    @property
    def device(self) -> int: ...
    @property
    def scalar_bytes(self) -> int: ...
    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Names, shapes and resources; loads the unit."""

@final
class CudaFunction:
    """Calls the kernel of a unit that takes the arguments and suits the batch.

    Calls on device arrays enqueue and return device arrays; calls on NumPy arrays wait, or return NotImplemented if the
    arrays are not canonical.
    """

    def __init__(
        self,
        unit: CudaUnit,
        inputs: Sequence[tuple[Any, ...]],
        outputs: Sequence[tuple[Any, ...]],
        result: type[tuple[Any, ...]] | None = None,
    ) -> None: ...
    def __call__(self, arguments: tuple[Any, ...], out: Any = None, stream: Any = None, threads: int = 1, /) -> Any: ...
    @property
    def unit(self) -> CudaUnit: ...
    def shape_for(self, given: Sequence[bool], batch: int) -> str:
        """Return the label of the launch shape that a call would get, by which inputs it has and its batch size."""
    def set_profile(self, profile: Sequence[tuple[int, str]]) -> None:
        """Choose by ``(largest batch, label)``, in order of batch, instead of the built-in estimate; empty: built in.

        The last entry serves larger batches too. Labels that a kernel does not have leave it to the estimate.
        """
    def set_most_threads(self, threads: int) -> None:
        """Take the shape with the largest block of at most so many threads, else the smallest; negative: choose."""
    def time(self, arguments: tuple[Any, ...], out: Any, repeats: int, rounds: int) -> float:
        """Return the seconds that a call on device arrays takes the device.

        The median over ``rounds`` launches of a graph of ``repeats`` calls.
        """
    def set_workspaces(self, most: int) -> None:
        """Bound the workspaces in device memory, one per block of a launch; 0: as many as blocks run at once."""
    def set_batch_last(self, value: bool) -> None:
        """Say whether the batch is contiguous in new arrays for results, instead of the samples."""

def workers() -> int:
    """Return the number of worker threads that the pool has started."""

def publish(key: str, function: Function | CudaFunction, places: Sequence[int]) -> None:
    """Let compiled front-ends call a function under a key, with inputs at these places of the declared ones.

    The function is kept as long as the process lives.
    """

def withdraw(key: str) -> None:
    """Let nobody find what was published under a key."""

def bridge_address() -> int:
    """Return the address of the table of ``grid_bridge.h``."""

def cuda_device_count() -> int:
    """Return the number of CUDA devices; a CudaError if there is no driver."""

def cuda_device(index: int) -> dict[str, Any]:
    """Return facts of a device: name, compute capability, multiprocessors, memory of a block and of all, bytes."""

def pinned_empty(shape: Sequence[int], dtype: np.dtype[Any], device: int = 0) -> NDArray[Any]:
    """Return a new array in page-locked memory."""

def to_device(array: NDArray[Any], device: int = 0) -> DeviceArray:
    """Return a copy of an array of floats in device memory."""

def is_pinned(array: NDArray[Any]) -> bool:
    """Whether an array is contiguous and in page-locked memory."""
