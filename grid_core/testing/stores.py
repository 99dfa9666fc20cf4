"""A store that goes away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from grid_store.layout import ENVIRONMENT


@contextmanager
def temporary_store() -> Iterator[Path]:
    """Have everything in this process, and in those that it starts, use a new store, and remove it in the end.

    Yields
    ------
    pathlib.Path
        Its root.
    """
    before = os.environ.get(ENVIRONMENT)
    with TemporaryDirectory(prefix="grid_rbd_test_") as folder:
        os.environ[ENVIRONMENT] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ[ENVIRONMENT]
            else:
                os.environ[ENVIRONMENT] = before
