"""Checks of what building for GPUs and running on them needs: nvcc, the NVIDIA driver, and a GPU."""

from __future__ import annotations

import ctypes
import os
import re

from grid_backends.errors import RunnerMissingError
from grid_core.errors import GridError, ToolchainError
from grid_core.toolchains.nvcc import NvccCompiler, find_nvcc
from grid_rbd.check import Check

DRIVER = "GRID_RBD_LIBCUDA"
"""Environment variable: path of the driver's library."""

NO_NEED = "only device='cuda' and cuda_arch need it: "


def check_nvcc() -> Check:
    """Look for NVIDIA's compiler. Where there is none, only somebody who set ``CUDA_HOME`` is warned."""
    try:
        compiler = find_nvcc()
    except ToolchainError as error:
        if os.environ.get("CUDA_HOME"):
            return Check("nvcc", "warn", "none works", f"{error}; correct or unset CUDA_HOME")
        advice = "install the CUDA toolkit and set CUDA_HOME, or pip install nvidia-cuda-nvcc (13 or later)"
        return Check("nvcc", "off", "not found", f"{NO_NEED}{advice}")
    known = compiler.architectures
    return Check("nvcc", "ok", f"{compiler.path}, CUDA {_release(compiler)}, sm_{min(known)} to sm_{max(known)}")


def check_gpu() -> Check:
    """Look for GPUs, and whether driver and nvcc suit them and each other."""
    try:
        from grid_backends.native import cuda_device, cuda_device_count
    except RunnerMissingError:
        return Check("gpu", "off", "not looked for: the runner is missing", f"{NO_NEED}see the check of the runner")
    try:
        devices = [cuda_device(index) for index in range(cuda_device_count())]
    except GridError as error:
        found, _, advice = str(error).partition("; ")
        absent = found.startswith("no CUDA driver")
        return Check("gpu", "off" if absent else "warn", found, f"{NO_NEED}{advice}" if absent else advice)
    driver = _driver_release()
    if not devices:
        return Check("gpu", "off", f"none, driver for CUDA {driver}", f"{NO_NEED}see nvidia-smi, CUDA_VISIBLE_DEVICES")
    listed = ", ".join(f"{d['name']} (sm_{d['compute']}, {d['total_bytes'] / 1e9:.0f} GB)" for d in devices)
    advice = _mismatch({int(device["compute"]) for device in devices}, driver)
    return Check("gpu", "warn" if advice else "ok", f"{listed}, driver for CUDA {driver}", advice)


def _mismatch(computes: set[int], driver: str) -> str:
    """Return what to change for code of this machine's nvcc to run on its GPUs."""
    try:
        compiler = find_nvcc()
    except ToolchainError:
        return ""
    unknown = sorted(computes - set(compiler.architectures))
    if unknown:
        names = ", ".join(f"sm_{number}" for number in unknown)
        return f"{compiler.path} does not compile for {names}; install a CUDA toolkit that does"
    release = _release(compiler)
    if _major(release) > _major(driver) > 0:
        return f"the driver may refuse code of nvcc {release}; update the driver, or use a CUDA toolkit {driver}"
    return ""


def _major(release: str) -> int:
    number = release.partition(".")[0]
    return int(number) if number.isdigit() else 0


def _release(compiler: NvccCompiler) -> str:
    found = re.search(r"release ([\d.]+)", compiler.version)
    return found[1] if found else "of unknown release"


def _driver_release() -> str:
    """Return the newest CUDA that the driver knows, ``"12.4"``."""
    number = ctypes.c_int()
    try:
        ctypes.CDLL(os.environ.get(DRIVER) or "libcuda.so.1").cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return "of unknown release"
    return f"{number.value // 1000}.{number.value % 1000 // 10}"
