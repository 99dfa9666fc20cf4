"""The compiler of a request; what was probed once is remembered in the store, so that a warm start runs no program."""

from __future__ import annotations

import os
from pathlib import Path

from grid_core.build.request import RobotRequest
from grid_core.toolchains import CxxCompiler, find_compiler
from grid_store import Key, Store

FILE = "compiler.json"


def compiler_for(request: RobotRequest, store: Store) -> CxxCompiler:
    """Return a working compiler.

    Raises
    ------
    ToolchainError
        There is none; the message lists what was tried.
    """
    key = Key({"kind": "compiler", "command": request.compiler or os.environ.get("CXX", "")})
    entry = store.get(key.digest)
    known = [CxxCompiler.from_json(entry.path(FILE).read_text("utf-8"))] if entry else []
    found = find_compiler(request.compiler, known=known)
    if found not in known:
        store.obtain(key, lambda folder: _write(folder, found), force=entry is not None)
    return found


def _write(folder: Path, compiler: CxxCompiler) -> dict[str, str]:
    (folder / FILE).write_text(compiler.to_json(), "utf-8")
    return {"kind": "compiler", "version": compiler.version.splitlines()[0]}
