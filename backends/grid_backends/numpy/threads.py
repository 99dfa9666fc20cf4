"""How many threads a handle uses."""

from __future__ import annotations

import os
from typing import Any

from grid_core.errors import OptionError

VARIABLE = "GRID_RBD_THREADS"


def default_threads() -> int:
    """Return ``GRID_RBD_THREADS`` if set, else the number of CPUs that this process may use.

    Raises
    ------
    OptionError
        The variable is no integer from 1 to 1024.
    """
    text = os.environ.get(VARIABLE, "")
    if text:
        try:
            return checked_threads(int(text))
        except ValueError:
            raise OptionError(
                f"environment variable {VARIABLE} is {text!r}; set an integer from 1 to 1024 or unset it"
            ) from None
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_threads(value: Any) -> int:
    """Return ``value`` if it is a number of threads.

    Raises
    ------
    OptionError
        It is no integer from 1 to 1024.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024:
        raise OptionError(f"threads is {value!r}; set an integer from 1 to 1024")
    return value
