"""Environment variables: a wrong value is told even where nothing needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

import grid_rbd
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import PENDULUM

WRONG = {
    "GRID_RBD_QUIET": "maybe",
    "GRID_RBD_BUILD_JOBS": "0",
    "GRID_RBD_THREADS": "many",
    "GRID_RBD_CUDA_ARCHS": "all",
}


@pytest.mark.parametrize("variable", WRONG)
def test_wrong_values_are_refused_where_everything_is_stored(
    variable: str, root: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"cache_dir": root, "algorithm_list": "minv", "compiler": stub.command}
    grid_rbd.register_robot("arm", PENDULUM, **options)  # type: ignore[arg-type]
    monkeypatch.setenv(variable, WRONG[variable])
    with pytest.raises(grid_rbd.OptionError, match=f"{variable}.*{WRONG[variable]}.*unset|{variable} is 'all'"):
        grid_rbd.register_robot("arm", PENDULUM, **options)  # type: ignore[arg-type]
