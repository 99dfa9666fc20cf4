"""What a figure depends on beside the code: machine, compiler, versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

from grid_core.toolchains import detect_level, find_compiler

PACKAGES = ("numpy", "pin", "grid-rbd", "jax", "torch", "frax")


def machine_facts() -> dict[str, object]:
    """Return plain JSON values; nothing in them names a user, a host or a path."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "level": detect_level(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": find_compiler().version.splitlines()[0],
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "scheduling": "normal" if os.sched_getscheduler(0) == os.SCHED_OTHER else "real-time",
        "load_average": [round(x, 2) for x in os.getloadavg()],
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    family = re.search(r"^cpu family\s*: (\d+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    name = found.group(1) if found else platform.processor()
    return f"{name} (family {family.group(1)})" if family else name


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
