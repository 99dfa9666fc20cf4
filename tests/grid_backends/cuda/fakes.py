"""A CUDA driver without a GPU, device arrays without a framework, and units for both."""

from __future__ import annotations

import ctypes
import json
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grid_core.model import Model
from tests.grid_backends.toys import CXX, HERE

MULTIPROCESSORS = 4


class FakeDriver:
    """What tests see of ``fake_cuda.cpp``."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.fake_log.restype = ctypes.c_char_p

    def clear(self) -> None:
        self._library.fake_clear()

    def log(self, name: str) -> list[list[str]]:
        """Return the arguments of the calls of one driver function, in order."""
        lines = [line.split() for line in self._library.fake_log().decode().splitlines()]
        return [line[1:] for line in lines if line[0] == name]

    def names(self) -> list[str]:
        return [line.split()[0] for line in self._library.fake_log().decode().splitlines()]

    def launches(self) -> list[dict[str, Any]]:
        keys = ("kernel", "blocks", "threads", "shared", "stream", "batch", "scratch")
        return [dict(zip(keys, [v[0], *map(int, v[1:])])) for v in self.log("cuLaunchKernel")]

    def fail(self, name: str, result: int) -> None:
        """Let the next call of a driver function fail."""
        self._library.fake_fail(name.encode(), result)

    def fail_always(self, name: str, result: int) -> None:
        """Let all calls of a driver function fail; a result of 0 ends it."""
        self._library.fake_fail_always(name.encode(), result)

    def local_bytes(self, count: int) -> None:
        """Set how much memory a thread of a one-warp kernel takes."""
        self._library.fake_local_bytes(count)

    def place(self, array: np.ndarray, device: int) -> None:
        """Put the memory of an array on another device than the first."""
        self._library.fake_place(ctypes.c_uint64(array.ctypes.data), device)

    def capture(self, stream: int, number: int) -> None:
        self._library.fake_capture(ctypes.c_void_p(stream), ctypes.c_uint64(number))

    def end_capture(self, stream: int) -> None:
        self._library.fake_end_capture(ctypes.c_void_p(stream))

    def destroy_graph(self, number: int) -> None:
        self._library.fake_destroy_graph(ctypes.c_uint64(number))


def compile_fake(folder: Path) -> Path:
    library = folder / "libfake_cuda.so"
    source = HERE / "cuda" / "fake_cuda.cpp"
    subprocess.run([CXX, "-std=c++17", "-O1", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return library


def write_unit(
    folder: Path,
    model: Model,
    name: str = "toy",
    dtype: str = "float64",
    *,
    warps: Sequence[int] = (1, 4),
    shared_bytes: int = 3000,
    scratch: int = 0,
    written: dict[str, Any] | None = None,
    **changes: Any,
) -> Path:
    """Write a unit of a toy algorithm that the fake driver runs.

    ``changes`` and ``written`` replace entries of its description.
    """
    inputs = {"q": model.nq, "qd": model.nv, "gravity": 3, "f_ext": 6 * model.nb, "probe": 1, "qdd": model.nv}
    outputs = {"tau": model.nv, "outer": model.nv**2} if name == "pair_of_toys" else {"tau": model.nv}
    kernels = []
    images = []
    for absent in ((), ("qdd",)):
        lines = []
        for count in warps:
            kernel = "".join(["toy", *(f"_without_{a}" for a in absent), f"_w{count}"])
            lines.append(f"{kernel} {np.dtype(dtype).itemsize} {len(outputs)} {model.nq} {model.nv} {6 * model.nb}\n")
            kernels.append(
                {
                    "name": kernel,
                    "shape": f"w{count}",
                    "warps": count,
                    "blocks": 1,
                    "file": len(absent),
                    "instructions": 1000,
                    "rows": 0,
                    "pooled": False,
                    "stages": 1,
                    "absent": absent,
                    "shared_bytes": shared_bytes,
                    "scratch": scratch,
                    "inputs": [[n, s] for n, s in inputs.items() if n not in absent],
                    "outputs": list(outputs.items()),
                }
            )
        text = "".join(lines).encode()
        images.append(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(text)) + text)
    description = {
        "abi": 5,
        "algorithm": name,
        "dtype": dtype,
        "machine": [90],
        "portable": [],
        "small_bytes": 256,
        "kernels": kernels,
        **changes,
        **(written or {}),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unit.fatbin").write_bytes(b"".join(images))
    (folder / "unit.json").write_text(json.dumps(description))
    return folder


class InterfaceArray:
    """A device array that only has ``__cuda_array_interface__``; its memory is a NumPy array's."""

    def __init__(self, array: np.ndarray, stream: int | None = None, *, read_only: bool = False) -> None:
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, read_only),
            "strides": None if array.flags.c_contiguous else array.strides,
            "stream": stream,
            "version": 3,
        }

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._interface

    @__cuda_array_interface__.setter
    def __cuda_array_interface__(self, value: dict[str, Any]) -> None:
        self._interface = value


class DlpackArray:
    """The same through DLPack only, as exported by a DeviceArray."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.streams: list[int | None] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        self.streams.append(stream)
        return self._array.__dlpack__(stream=stream)
