"""Numbers of contexts, and what they may be bounded by."""

from __future__ import annotations

import itertools
from typing import Any

from grid_core.errors import OptionError

_numbers = itertools.count(1)


def next_context() -> int:
    """Return a number that no other context of the process has."""
    return next(_numbers)


def checked_slots(value: Any) -> int:
    """Return ``value`` if it is a number of workspaces.

    Raises
    ------
    OptionError
        It is no integer of at least 0.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise OptionError(f"workspace_slots is {value!r}, expected an integer of at least 0")
    return value
