"""What holds for every test: a store of its own for the run, and no deadline on a machine that is busy."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("grid", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("grid")


@pytest.fixture(scope="session", autouse=True)
def _store_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's store out of it. Workers of one run share a store, so that nothing is compiled twice."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRID_RBD_CACHE_DIR", str(root))
        yield
