"""Finding a C++ compiler that works, once per process, and not at all when an earlier process has.

A compiler is recognised by path, size and modification time, so that recognising it runs nothing.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grid_core.errors import ToolchainError
from grid_core.toolchains.cxx import CxxCompiler
from grid_core.toolchains.levels import detect_level
from grid_core.toolchains.probe import probe
from grid_core.toolchains.process import ask

NAMES = ("g++", "clang++", "c++")
"""Compilers to look for on PATH, in this order."""

_working: dict[tuple[tuple[str, ...], str], CxxCompiler] = {}


def find_compiler(override: str | None = None, *, known: Iterable[CxxCompiler] = ()) -> CxxCompiler:
    """Find a compiler that works: ``CXX``, then g++, clang++ and c++ on PATH.

    Parameters
    ----------
    override : str, optional
        Command to use instead; no other is tried then.
    known : iterable of CxxCompiler
        Compilers probed by earlier processes. One that is found again unchanged is returned without running anything.

    Raises
    ------
    ToolchainError
        None works; the message has what was tried, why each failed, PATH, and the variable to set.

    Warns
    -----
    UserWarning
        ``CXX`` is set but does not work, and another compiler does.
    """
    _working.update({(compiler.command, compiler.stamp): compiler for compiler in known})
    failures: dict[str, str] = {}
    for origin, text in _candidates(override):
        try:
            compiler = _probed(_located(text))
        except ToolchainError as error:
            failures[origin] = str(error)
            continue
        if "CXX" in failures:
            warnings.warn(
                f"CXX={os.environ['CXX']!r} does not work, {compiler.path} is used: {failures['CXX']}", stacklevel=2
            )
        return compiler
    raise ToolchainError(_nothing_found(failures))


def stamp(command: Sequence[str]) -> str:
    """Return the :func:`fingerprint` of every program that a command names, a launcher such as ccache included."""
    return ";".join(fingerprint(Path(found)) for word in command if (found := shutil.which(word)))


def fingerprint(path: Path) -> str:
    """Return what changes when a program is replaced, without running it: resolved path, size and modification time."""
    resolved = path.resolve()
    status = resolved.stat()
    return f"{resolved}:{status.st_size}:{status.st_mtime_ns}"


def _candidates(override: str | None) -> Iterator[tuple[str, str]]:
    if override is not None:
        yield "requested", override
        return
    if os.environ.get("CXX"):
        yield "CXX", os.environ["CXX"]
    yield from ((name, name) for name in NAMES)


def _located(text: str) -> tuple[str, ...]:
    words = [text] if shutil.which(text) else text.split()
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise ToolchainError(f"{text!r} is not an executable on PATH")
    return (str(Path(found).absolute()), *words[1:])


def _probed(command: tuple[str, ...]) -> CxxCompiler:
    key = (command, stamp(command))
    if key not in _working:
        compiler = CxxCompiler(command, ask(command, "--version"), ask(command, "-dumpmachine"), key[1])
        probe(compiler, detect_level())
        _working[key] = compiler
    return _working[key]


def _nothing_found(failures: Mapping[str, str]) -> str:
    tried = "\n".join(f"  {origin}: {reason}" for origin, reason in failures.items())
    return (
        f"no working C++17 compiler; tried\n{tried}\n"
        f"PATH={os.environ.get('PATH', '')}\n"
        "Install g++ (9 or newer) or clang++ (10 or newer), or set CXX to the compiler's path. "
        'device="reference" needs no compiler.'
    )
