"""The compiled call from XLA: built once per version of jaxlib, kept in the store, and registered once per process."""

from __future__ import annotations

import ctypes
import shutil
import threading
from pathlib import Path
from typing import Any

import jax
import jaxlib

import grid_backends.native
from grid_core.toolchains import detect_level, find_compiler
from grid_store import Entry, Key, Store

TARGET = "grid_rbd"
"""Name of the custom call."""

SOURCE = Path(__file__).with_name("bridge.cpp")
HEADERS = Path(grid_backends.native.__file__).parent
LIBRARY = "bridge.so"
PLATFORMS = {"cpu": "grid_call_on_cpu", "CUDA": "grid_call_on_cuda"}

_lock = threading.Lock()
_kept: list[Any] = []


def connect(store: Store) -> None:
    """Register the call with XLA, unless that was done in this process.

    Raises
    ------
    ToolchainError, CompileError
        The call has to be compiled, and there is no compiler, or it failed.
    """
    with _lock:
        if _kept:
            return
        entry = _built(store)
        library = ctypes.CDLL(str(entry.verified(LIBRARY)))
        library.grid_connect(ctypes.c_void_p(grid_backends.native.bridge_address()))
        for platform, symbol in PLATFORMS.items():
            jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(getattr(library, symbol)), platform=platform)
        _kept.extend((library, store.lease(entry.key)))


def _built(store: Store) -> Entry:
    compiler, level = find_compiler(), detect_level()
    key = Key(
        {
            "kind": "bridge to XLA",
            "jaxlib": jaxlib.__version__,
            "sources": [SOURCE, HEADERS / "grid_bridge.h"],
            "flags": list(compiler.flags(level)),
            "compiler": compiler.identity(),
        }
    )

    def produce(folder: Path) -> dict[str, str]:
        source = folder / SOURCE.name
        shutil.copyfile(SOURCE, source)
        include = [Path(jax.ffi.include_dir()), HEADERS]
        compiler.compile(source, folder / LIBRARY, level=level, include=include, log=folder / "build.log")
        return {"kind": "bridge", "jaxlib": jaxlib.__version__}

    return store.obtain(key, produce)
