"""How many compilers this machine can run at once."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
    limit = requested_jobs() or min(usable_cpus(), free_memory() // BYTES_PER_JOB)
    return max(1, min(jobs, limit))


def requested_jobs() -> int | None:
    """Return ``GRID_RBD_BUILD_JOBS``, ``None`` if it is not set; raises as :func:`worker_count`."""
    text = os.environ.get(JOBS_VARIABLE)
    if not text:
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise OptionError(
            f"{JOBS_VARIABLE}={text!r} is not a positive integer; set it to a number of parallel compilers or unset it"
        )
    return int(text)


class _Slots:
    """Places for compilers of this process; how many there are is found when the first of them is taken."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = 0
        self._most = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._changed:
            if not self._taken:
                self._most = worker_count(sys.maxsize)
            self._changed.wait_for(lambda: self._taken < self._most)
            self._taken += 1
        try:
            yield
        finally:
            with self._changed:
                self._taken -= 1
                self._changed.notify()


compiler_slot = _Slots().one
"""``with compiler_slot():`` waits until one more compiler may run: units and their files are compiled side by side."""


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
