"""Files that appear when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a stream whose content becomes a file; if the block fails, what was there stays.

    A symbolic link leads where it led. What is there and is no file, such as a pipe, is written to as it is.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as stream:
            yield stream
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
