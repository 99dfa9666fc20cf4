"""Compilers: finding one that works, running it, and knowing what this machine can execute."""

from grid_core.toolchains.cxx import CxxCompiler
from grid_core.toolchains.levels import detect_level, level_identity, machine_supports
from grid_core.toolchains.parallel import run_all
from grid_core.toolchains.search import find_compiler, fingerprint
from grid_core.toolchains.toolchain import Toolchain
from grid_core.toolchains.workers import worker_count

__all__ = [
    "CxxCompiler",
    "Toolchain",
    "detect_level",
    "find_compiler",
    "fingerprint",
    "level_identity",
    "machine_supports",
    "run_all",
    "worker_count",
]
