"""What holds for every test: a store of its own for the run, and no deadline on a machine that is busy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("grid", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("grid")


@pytest.fixture(scope="session", autouse=True)
def _store_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's store and configuration out of it. Workers of a run share a store: nothing is compiled twice."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRID_RBD_CACHE_DIR", str(root))
        patch.setenv("GRID_RBD_CONFIG_DIR", str(base / "config"))
        yield


@pytest.fixture(scope="session")
def compiled(_store_of_this_run: None) -> Callable[..., Any]:
    """``compiled(urdf, **options)``: a handle that compiles each unit at its first use, once in the run.

    ``urdf`` is a path or XML text; options are those of :func:`grid_rbd.load_robot`.
    """
    import grid_rbd
    from grid_core.model import URDFWarning

    @cache
    def load(urdf: str | Path, **options: Any) -> Any:
        source = {"urdf_path": urdf} if isinstance(urdf, Path) else {"urdf_string": urdf}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", URDFWarning)
            return grid_rbd.load_robot(**source, lazy=True, **options)

    return load
