"""Instruction-set levels of the CPU: what each one requires, and the best one that this machine runs.

The x86-64 levels are those of the System V psABI supplement. They are spelled out feature by feature because
``-march=x86-64-v3`` is unknown to g++ before 11 and clang++ before 12.
"""

from __future__ import annotations

import hashlib
import platform
import re
from functools import cache
from pathlib import Path

from grid_core.errors import OptionError, nearest

CPUINFO = Path("/proc/cpuinfo")

V2 = ("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2")
V3 = (*V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
V4 = (*V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
X86_FEATURES = {"x86-64-v4": V4, "x86-64-v3": V3, "x86-64-v2": V2}
"""Level -> features in compiler spelling, best level first."""

CPUINFO_NAMES = {
    "sahf": "lahf_lm",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "lzcnt": "abm",
    "bmi": "bmi1",
}
"""Features that the kernel spells differently."""

FLAGS: dict[str, tuple[str, ...]] = {
    **{level: ("-march=x86-64", *(f"-m{x}" for x in features)) for level, features in X86_FEATURES.items()},
    "armv8": ("-march=armv8-a",),
    "native": ("-march=native",),
}
FLAGS["x86-64-v4"] += ("-mprefer-vector-width=512",)


def level_flags(level: str) -> tuple[str, ...]:
    """Return the compiler options of a level.

    Raises
    ------
    OptionError
        The level is unknown; the message lists the known ones.
    """
    try:
        return FLAGS[level]
    except KeyError:
        raise OptionError(
            f"unknown instruction-set level {level!r}{nearest(level, FLAGS)}; known levels: {', '.join(FLAGS)}"
        ) from None


def detect_level() -> str:
    """Return the best level that this machine runs; ``"native"`` on a machine below the lowest portable level."""
    return next((level for level in FLAGS if machine_supports(level)), "native")


def machine_supports(level: str) -> bool:
    """Tell whether code compiled for ``level`` runs on this machine."""
    level_flags(level)
    if level == "native":
        return True
    if level == "armv8":
        return _machine() in {"aarch64", "arm64"}
    if _machine() not in {"x86_64", "amd64"}:
        return False
    if not CPUINFO.exists():
        return level == "x86-64-v2"  # no way to ask: every x86-64 processor sold since 2009 runs it
    return all(CPUINFO_NAMES.get(x, x) in cpu_features() for x in X86_FEATURES[level])


def level_identity(level: str) -> str:
    """Return what names a level in keys. ``native`` means another thing on another processor, so it says which."""
    if level != "native":
        return level
    description = "\n".join([_machine(), _cpu_model(), *sorted(cpu_features())])
    return f"native:{hashlib.sha256(description.encode()).hexdigest()[:16]}"


@cache
def cpu_features() -> frozenset[str]:
    """Return the features that the kernel reports usable, in its spelling; empty where it reports none."""
    return frozenset(_cpuinfo("flags|Features").split())


def _cpu_model() -> str:
    return _cpuinfo("model name|CPU part")


def _cpuinfo(field: str) -> str:
    text = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    found = re.search(rf"^(?:{field})\s*:(.*)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def _machine() -> str:
    return platform.machine().lower()
