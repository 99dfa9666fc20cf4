"""The compiled runner: loads units by the C ABI of ``grid_unit.h`` and calls them on batches with a thread pool."""

from __future__ import annotations

from grid_backends.errors import RunnerMissingError

try:
    from grid_backends.native._runner import Function, Unit, workers
except ImportError as error:
    raise RunnerMissingError(
        f"the compiled runner of grid-rbd is missing ({error}). Install a C++17 compiler (Debian, Ubuntu: apt install "
        "g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install) and reinstall grid-rbd with "
        "'pip install --force-reinstall --no-cache-dir grid-rbd', or run without compiled code: device='reference'"
    ) from error

__all__ = ["Function", "Unit", "workers"]
