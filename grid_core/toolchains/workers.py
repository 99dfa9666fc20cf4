"""How many compilers this machine can run at once."""

from __future__ import annotations

import os
import re
from pathlib import Path

from grid_core.errors import OptionError

JOBS_VARIABLE = "GRID_RBD_BUILD_JOBS"
BYTES_PER_JOB = 3 << 29
"""Memory set aside for one compiler, 1.5 GiB."""

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def worker_count(jobs: int) -> int:
    """Return how many of ``jobs`` compilations to run at once, at least 1.

    ``GRID_RBD_BUILD_JOBS`` decides if set; otherwise the processors that this process may use and the free memory do.

    Raises
    ------
    OptionError
        ``GRID_RBD_BUILD_JOBS`` is not a positive integer.
    """
    wanted = os.environ.get(JOBS_VARIABLE)
    limit = _from_variable(wanted) if wanted else min(usable_cpus(), free_memory() // BYTES_PER_JOB)
    return max(1, min(jobs, limit))


def usable_cpus() -> int:
    """Return the number of processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> int:
    """Return the bytes that can be taken without swapping: the machine's, or this control group's if fewer."""
    if MEMINFO.exists():
        found = re.search(r"^MemAvailable:\s*(\d+) kB$", MEMINFO.read_text(encoding="ascii"), re.MULTILINE)
        available = int(found.group(1)) * 1024 if found else 0
    else:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(available, _cgroup_memory(available))


def _cgroup_memory(unlimited: int) -> int:
    try:
        limit = (CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = int((CGROUP / "memory.current").read_text(encoding="ascii"))
        cached = re.search(r"^inactive_file (\d+)$", (CGROUP / "memory.stat").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return unlimited
    return unlimited if limit == "max" else max(0, int(limit) - used + (int(cached.group(1)) if cached else 0))


def _from_variable(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise OptionError(
            f"{JOBS_VARIABLE}={text!r} is not a positive integer; set it to a number of parallel compilers or unset it"
        )
    return int(text)
