"""Names and paths are printed as they are, also where they look like the markup of what prints them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grid_rbd import measure
from tests.grid_core.build.conftest import Stub

from .conftest import Run

NAME = "arm[/b] :key: [red]"


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pendulum: Path) -> Path:
    """A folder whose path is markup, with a description, the configuration and the store in it."""
    folder = tmp_path / "[/b] :key:"
    folder.mkdir(parents=True)
    shutil.copy(pendulum, folder / "[red].urdf")
    monkeypatch.setenv("GRID_RBD_CACHE_DIR", str(folder / "store"))
    monkeypatch.setenv("GRID_RBD_CONFIG_DIR", str(folder / "config"))
    monkeypatch.setenv("COLUMNS", "400")
    return folder


def test_names_and_stores(run: Run, odd: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", stub.command)
    description, store = odd / "[red].urdf", str(odd / "store")
    flags, archive = ("--name", NAME, "--algorithms", "crba"), odd / "all.tar.gz"
    shown = {
        ("build", description, *flags): NAME,
        ("plan", description, *flags): f"{NAME} in {store}",
        ("explain", description, *flags, "--dtype", "float64"): f"from what '{NAME}' was built from",
        ("list",): NAME,
        ("show", NAME): store,
        ("root",): store,
        ("stats",): store,
        ("gc",): store,
        ("config",): str(odd / "config" / "trusted"),
        ("doctor",): store,
        ("export", "--output", archive): str(archive),
        ("import", archive): f"{NAME} present",
        ("generate", description, "--algorithms", "crba", "--output", odd / "grid.hpp"): str(odd / "grid.hpp"),
    }
    for command, expected in shown.items():
        ran = run(*command)
        assert (ran.code, expected in ran.out) == (0, True), (command, ran)
    plan = odd / "plan.json"
    plan.write_text(run("plan", description, *flags, "--json").out)
    assert f"{NAME} is complete" in run("build", "--from-plan", plan).out
    shutil.rmtree(odd / "store" / "v1" / "objects")
    assert NAME in run("verify").out
    assert NAME in run("repair").out


def test_tiers(run: Run, odd: Path) -> None:
    pytest.importorskip("fsspec")
    assert str(odd / "config" / "tiers.json") in run("tiers", "add", (odd / "tier").as_uri()).out
    assert "%5B/b%5D" in run("tiers", "list").out


def test_measurements(run: Run, odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SECONDS", 1e-4)
    monkeypatch.setattr(measure, "ROUNDS", 2)
    description, few = odd / "[red].urdf", ("--algorithms", "crba", "--batch", "4")
    assert "[red]  2 joints" in run("try", description, *few).out
    assert "per sample, [red], float32" in run("bench", description, *few, "--table").out
