"""A small project of a consumer, in a folder and a store of its own."""

from __future__ import annotations

import ctypes
import logging
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grid_rbd
from grid_store import Store
from tests.grid_core.units import PENDULUM
from tests.grid_store.conftest import mount  # noqa: F401 - a fixture

if find_spec("fsspec") and find_spec("cryptography"):
    from tests.grid_store.tiers.people import builder, shared, user  # noqa: F401 - fixtures

USE = """
#include "grid.hpp"
#include "weights.hpp"
extern "C" void weighted_mass(const GRID_SCALAR* q, GRID_SCALAR* M) {
    const GRID_SCALAR gravity[3] = {0, 0, GRID_SCALAR(-9.81)};
    GRID_SCALAR ws[grid::crba_scratch()];
    grid::crba<GRID_SCALAR>(q, gravity, M, ws);
    for (int k = 0; k < grid::NUM_VEL * grid::NUM_VEL; ++k) M[k] *= WEIGHT;
}
"""
HELPER = """
extern "C" int version() { return VERSION; }
"""


@dataclass
class Project:
    """Two sources and two folders of headers."""

    folder: Path
    root: Path
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        return Store(self.root)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def given(self, **more: Any) -> dict[str, Any]:
        return {
            "sources": [self.folder / "use.cpp", self.folder / "helper.cpp"],
            "include_dirs": [self.folder / "first", self.folder / "second"],
            "defines": {"VERSION": 3},
            "algorithm_list": "crba",
            "cache_dir": self.root,
            **self.options,
            **more,
        }

    def build(self, name: str = "arm", urdf: Path = PENDULUM, **more: Any) -> Any:
        return grid_rbd.build_artifact("planner", name, urdf, **self.given(**more))

    def plan(self, **more: Any) -> dict[str, Any]:
        return self.build(plan_only=True, **more)

    def load(self, name: str = "arm", **more: Any) -> Any:
        return grid_rbd.load_artifact("planner", name, self.root, **more)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project", tmp_path / "store")
    made.write("use.cpp", USE)
    made.write("helper.cpp", HELPER)
    made.write("first/other.hpp", "")
    made.write("second/weights.hpp", '#include "detail/weight.hpp"\n')
    made.write("second/detail/weight.hpp", "#define WEIGHT 2\n")
    return made


def weighted_mass(artifact: Any, q: Any, dtype: Any = np.float32) -> Any:
    """Call the artifact's function."""
    taken, mass = np.asarray(q, dtype), np.full((len(q), len(q)), np.nan, dtype)
    ctypes.CDLL(str(artifact.path)).weighted_mass(ctypes.c_void_p(taken.ctypes.data), ctypes.c_void_p(mass.ctypes.data))
    return mass


@pytest.fixture
def compiled_files(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sources that were compiled, in order."""
    from grid_core.toolchains.project import ProjectCompiler

    found: list[str] = []
    compile_one = ProjectCompiler.compile

    def noted(self: ProjectCompiler, source: Path, options: Any, work: Path) -> Any:
        found.append(source.name)
        return compile_one(self, source, options, work)

    monkeypatch.setattr(ProjectCompiler, "compile", noted)
    caplog.set_level(logging.WARNING)
    return found


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the driver, also one that this process has opened already."""
    from grid_backends.errors import CudaError

    def missing(index: int) -> None:
        raise CudaError(f"no CUDA driver for device {index}")

    monkeypatch.setattr("grid_backends.native.cuda_device", missing)
