"""The compiled runner.

It loads CPU units by the C ABI of ``grid_unit.h`` and calls them with a thread pool, and CUDA units through the driver,
which is opened when it is first needed.
"""

from __future__ import annotations

from grid_backends.errors import RunnerMissingError

try:
    from grid_backends.native._runner import (
        CudaFunction,
        CudaUnit,
        DeviceArray,
        DevicePart,
        Function,
        Unit,
        bridge_address,
        copy_parts,
        cuda_device,
        cuda_device_count,
        device_empty,
        device_part,
        is_pinned,
        pinned_empty,
        publish,
        stream_handle,
        to_device,
        withdraw,
        workers,
    )
except ImportError as error:
    raise RunnerMissingError(
        f"the compiled runner of grid-rbd is missing ({error}). Install a C++17 compiler (Debian, Ubuntu: apt install "
        "g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install) and reinstall grid-rbd with "
        "'pip install --force-reinstall --no-cache-dir grid-rbd', or run without compiled code: device='reference'"
    ) from error

__all__ = [
    "CudaFunction",
    "CudaUnit",
    "DeviceArray",
    "DevicePart",
    "Function",
    "Unit",
    "bridge_address",
    "copy_parts",
    "cuda_device",
    "cuda_device_count",
    "device_empty",
    "device_part",
    "is_pinned",
    "pinned_empty",
    "publish",
    "stream_handle",
    "to_device",
    "withdraw",
    "workers",
]
