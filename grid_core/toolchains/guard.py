"""What happens to compilers when the process that runs them is killed and cannot stop them itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

KILL_GROUP = 'read _; kill -KILL "-$0"'
"""Waits for the end of its input, which nobody writes to and which the system closes when this process ends."""


@contextmanager
def guarded(group: int) -> Iterator[None]:
    """Have a process group killed if this process ends, however it does, before the block does.

    A signal at the death of the parent (``PR_SET_PDEATHSIG``) would reach the driver of a compiler only, and not the
    processes that the driver has started.
    """
    guard = subprocess.Popen(
        ["/bin/sh", "-c", KILL_GROUP, str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with guard:
        try:
            yield
        finally:
            guard.kill()
