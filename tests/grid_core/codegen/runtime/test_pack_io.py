"""grid::load and grid::store: values, and that nothing outside the valid rows is touched."""

from __future__ import annotations

import pytest

from .conftest import SANITIZERS, Build, run


def test_loads_and_stores(build: tuple[str, str], compile_driver: Build) -> None:
    run(compile_driver("io_driver.cpp", *build))


@pytest.mark.sanitize
def test_loads_and_stores_under_sanitizers(build: tuple[str, str], compile_driver: Build) -> None:
    run(compile_driver("io_driver.cpp", *build, *SANITIZERS))
