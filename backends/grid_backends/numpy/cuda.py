"""The handle of a robot on a GPU: the same methods on device arrays of any library, and on NumPy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from grid_backends.errors import UnitError
from grid_backends.numpy.handle import RobotHandle
from grid_backends.numpy.methods import OUT, MethodStyle
from grid_backends.numpy.on_device import DeviceCall, each_on_device, scan_on_device
from grid_backends.numpy.record import RobotRecord
from grid_backends.numpy.signature import Signature
from grid_backends.numpy.stacked import unstack
from grid_backends.numpy.units import declared_arguments
from grid_core.errors import OptionError

if TYPE_CHECKING:
    from grid_backends.native import CudaFunction

BINARY = "unit.fatbin"
DESCRIPTION = "unit.json"

CUDA_METHODS = MethodStyle(
    {
        **OUT,
        "stream": "Where calls on device arrays are enqueued: an integer handle or a stream object. Default: the "
        "stream that the arrays name, else the legacy default stream. The call returns before the work is done. Calls "
        "on NumPy arrays wait for their results.",
    },
    "out, stream, self._threads",
    "ndarray or device array",
)


def device_index(device: str) -> int:
    """Return 1 for ``"cuda:1"`` and 0 for ``"cuda"``.

    Raises
    ------
    OptionError
        It is no CUDA device.
    """
    kind, _, index = device.partition(":")
    if kind != "cuda" or not (index.isdigit() or device == "cuda"):
        raise OptionError(f"device is {device!r}, expected 'cuda' or 'cuda:0', 'cuda:1', ...")
    return int(index or 0)


def open_cuda_unit(folder: Path, signature: Signature, device: int = 0) -> CudaFunction:
    """Return the function of a CUDA unit: a folder with ``unit.fatbin`` and ``unit.json``.

    The GPU is first used when the function is called.

    Raises
    ------
    UnitError
        The unit cannot be read or does not match the signature.
    RunnerMissingError
        The runner was not compiled.
    """
    from grid_backends.native import CudaFunction, CudaUnit

    try:
        description = (folder / DESCRIPTION).read_text(encoding="utf-8")
    except OSError as error:
        raise UnitError(f"unit {str(folder)!r}: {error}; rebuild the robot (force_rebuild=True)") from error
    unit = CudaUnit(str(folder / BINARY), description, device, signature.dtype.itemsize)
    return CudaFunction(unit, *declared_arguments(signature), signature.result)


class CudaHandle(RobotHandle):
    """A robot whose algorithms run on a GPU.

    Methods take device arrays that have ``__cuda_array_interface__`` or ``__dlpack__`` (CuPy, JAX, Numba, PyTorch),
    without copies, and return device arrays with both; ``out=`` is written in place. They also take NumPy arrays, and
    then return NumPy arrays. All arrays of a call are in one place; numbers and short vectors that all samples share
    may be Python or NumPy values everywhere.

    Calls share nothing but the device: they may come from several threads, on several streams, and while a CUDA graph
    is being captured. A captured graph may be launched as long as this handle is open.
    """

    _methods = CUDA_METHODS

    def __init__(self, record: RobotRecord, functions: Any) -> None:
        super().__init__(record, functions)
        self._index = device_index(record.device)
        self._threads_per_block = -1

    def _unstacked(self, index: int, name: str, value: Any) -> dict[str, Any]:
        from grid_backends.native import device_part

        part = device_part(value)
        return super()._unstacked(index, name, value) if part is None else unstack(*self._stack_of(index), name, part)

    def _for_each(self, index: int, arguments: tuple[Any, ...], out: Any, *where: Any) -> Any:
        found = self._on_device(index, arguments, out, *where)
        if found is None:
            return super()._for_each(index, arguments, out, *where)
        return each_on_device(found, self._calls[index], arguments, out)

    def _scan(self, index: int, choice: Any, arguments: tuple[Any, ...], out: Any, *where: Any) -> Any:
        found = self._on_device(index, arguments, out, *where)
        if found is None:
            return super()._scan(index, choice, arguments, out, *where)
        return scan_on_device(found, self._callees(index, choice), arguments, out)

    def _on_device(
        self, index: int, arguments: tuple[Any, ...], out: Any, stream: Any, threads: int
    ) -> DeviceCall | None:
        return DeviceCall.find(self._signatures[index], arguments, out, stream, threads, self._index)

    def _configure(self, function: Any) -> None:
        super()._configure(function)
        function.set_workspaces(self._workspace_slots)
        function.set_most_threads(self._threads_per_block)

    @property
    def threads_per_block(self) -> int:
        """What :meth:`set_threads_per_block` asked for; -1: chosen by batch size."""
        return self._threads_per_block

    def set_threads_per_block(self, n: int) -> None:
        """Launch blocks of at most ``n`` threads instead of choosing by batch size; -1 chooses again.

        A block, or a cluster of blocks, works on 32 samples; of the shapes that were built, the one with the largest
        block that fits is taken, or the smallest there is.

        Raises
        ------
        OptionError
            ``n`` is neither -1 nor from 1 to 1024.
        """
        self._threads_per_block = _checked_block(n)
        self._configure_all()

    def kernel_max_threads(self, algo: str) -> int:
        """Return the largest block that any kernel of an algorithm can have; -1 if it is unknown or not built."""
        signature = self._record.signatures.get(algo)
        function: Any = None if signature is None else self._functions.get(algo)
        return -1 if function is None else max(kernel["max_threads"] for kernel in function.unit.kernels)

    @property
    def device_profile(self) -> dict[str, Any]:
        """Facts of the GPU: compute capability, memory in bytes, largest shared memory of a block.

        ``device_cc`` and ``artifact_cc`` are compute capabilities, of the GPU and the first one of the build.
        ``arena_bytes`` is what calls on this device have taken so far for results and scratch, ``workspace_slots`` the
        bound that :meth:`context` was given.
        """
        from grid_backends.native import cuda_device

        facts = cuda_device(self._index)
        return {
            "name": facts["name"],
            "device_cc": facts["compute"],
            "artifact_cc": self._record.facts.get("cuda_arch"),
            "multiprocessors": facts["multiprocessors"],
            "total_bytes": facts["total_bytes"],
            "free_bytes": facts["free_bytes"],
            "arena_bytes": facts["arena_bytes"],
            "workspace_slots": self._workspace_slots,
            "max_batch": self.max_batch,
            "smem_optin_bytes": facts["shared_bytes"],
            "slab_installed": False,
        }

    def pinned_empty(self, shape: int | tuple[int, ...], dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Return a new array in page-locked memory, by default of the dtype of the build.

        The GPU reads such arrays, and writes them as ``out=``, in place. Page-locked memory is scarce: reuse it.
        """
        from grid_backends.native import pinned_empty

        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        return pinned_empty(sizes, np.dtype(self.dtype if dtype is None else dtype), self._index)

    def is_pinned(self, a: ArrayLike) -> bool:
        """Whether an array is a contiguous one in page-locked memory."""
        from grid_backends.native import is_pinned

        return isinstance(a, np.ndarray) and is_pinned(a)


def _checked_block(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not (value == -1 or 1 <= value <= 1024):
        raise OptionError(f"threads per block is {value!r}; set 1 to 1024, or -1 to choose by batch size")
    return value
