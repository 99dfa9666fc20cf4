"""The compiler of a request; what was probed once is remembered in the store, so that a warm start runs no program."""

from __future__ import annotations

import os
from pathlib import Path

from grid_core.build.request import RobotRequest
from grid_core.toolchains import CxxCompiler
from grid_core.toolchains.nvcc import NvccCompiler
from grid_store import CorruptEntryError, Entry, Key, Store

Compiler = CxxCompiler | NvccCompiler

FILE = "compiler.json"


def compiler_for(request: RobotRequest, store: Store) -> Compiler:
    """Return a working compiler for the target.

    Raises
    ------
    ToolchainError
        There is none; the message lists what was tried.
    """
    variables = [os.environ.get(name, "") for name in ("CXX", "CUDA_HOME")]
    key = Key({"kind": "compiler", "target": request.target.name, "command": request.compiler, "variables": variables})
    entry = store.get(key.digest)
    known = _remembered(entry) if entry else []
    found = request.target.find_compiler(request.compiler, known)
    if found.to_json() not in known:
        store.obtain(key, lambda folder: _write(folder, found), force=entry is not None)
    return found


def _remembered(entry: Entry) -> list[str]:
    try:
        return [entry.verified(FILE).read_text("utf-8")]
    except CorruptEntryError:
        return []


def _write(folder: Path, compiler: Compiler) -> dict[str, str]:
    (folder / FILE).write_text(compiler.to_json(), "utf-8")
    return {"kind": "compiler", "version": compiler.version.splitlines()[0]}
