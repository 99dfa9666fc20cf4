"""Shared locks on open files, which say "somebody uses this"; the kernel drops them when the last holder ends.

On a file system without such locks sharing always works and having alone never does, so nothing in use is removed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl

_NOT_OFFERED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EINVAL}


def share(descriptor: int) -> None:
    """Lock an open file together with others; waits while somebody has it alone."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise


def wait_alone(descriptor: int) -> bool:
    """Lock an open file once nobody else has it; return ``False`` where the file system has no such locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise
        return False
    return True


def take_alone(descriptor: int) -> bool:
    """Lock an open file if nobody else has it, without waiting, and return whether that worked."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
