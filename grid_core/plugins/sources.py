"""Digests of the source files behind a plugin, so that an edit changes the keys of all that it contributed to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType

SUFFIXES = frozenset({".py", ".j2", ".hpp", ".h", ".cuh"})
"""Files that can change generated code."""


@cache
def folder_digest(folder: Path) -> str:
    """Return the digest of the source files below a folder, by relative path and content."""
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES):
        total.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def module_digest(module: ModuleType) -> str:
    """Return the digest of a plugin: the whole package that the module is or lies in, or its one file."""
    path = Path(module.__file__ or "")
    if module.__package__:
        return folder_digest(path.parent)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def plugin_digest(module: ModuleType, template_folders: Iterable[Path]) -> str:
    """Return the digest of a plugin's module with its template folders, which may lie elsewhere."""
    total = hashlib.sha256(module_digest(module).encode())
    for folder in template_folders:
        total.update(folder_digest(folder).encode())
    return total.hexdigest()


def core_digest() -> str:
    """Return the digest of the core: tracer, kernels, code generation and run-time headers."""
    return folder_digest(Path(__file__).resolve().parents[1])
