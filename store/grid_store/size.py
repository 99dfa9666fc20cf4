"""How much lies below a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """A number of files and the sum of their sizes."""

    files: int
    bytes: int


def usage_below(folder: Path) -> Usage:
    """Return what lies below ``folder``; what vanishes meanwhile counts nothing."""
    sizes = []
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append(os.lstat(f"{place}/{name}").st_size)
            except FileNotFoundError:
                continue
    return Usage(len(sizes), sum(sizes))
