"""``artifacts``, and what else the command line says about them."""

from __future__ import annotations

from pathlib import Path

import pytest

import grid_rbd

from .conftest import Run


@pytest.fixture
def cache(pendulum: Path, tmp_path: Path) -> tuple[str, Path]:
    source, root = tmp_path / "use.cpp", tmp_path / "store"
    source.write_text('#include "grid.hpp"\nextern "C" int width() { return grid::NUM_VEL; }\n')
    for consumer, name in (("planner", "arm"), ("planner", "leg"), ("walker", "arm")):
        grid_rbd.build_artifact(consumer, name, pendulum, sources=[source], algorithm_list="crba", cache_dir=root)
    return "--cache-dir", root


def test_artifacts(run: Run, cache: tuple[str, Path], tmp_path: Path) -> None:
    text = run("artifacts", *cache)
    assert text.code == 0
    assert all(word in text.out for word in ("planner", "walker", "leg", "2dof_planar", "float32"))
    assert "walker" not in run("artifacts", "planner", *cache).out
    found = run("artifacts", "planner", "--json", *cache).document
    assert found == grid_rbd.list_artifacts("planner", cache[1])
    assert len(run("artifacts", "--json", *cache).document) == 3
    assert "there is no artifact" in run("artifacts", "--cache-dir", tmp_path / "empty").out


def test_an_artifact_that_cannot_be_loaded(run: Run, cache: tuple[str, Path]) -> None:
    artifact = grid_rbd.load_artifact("planner", "arm", cache[1])
    artifact.path.unlink()
    assert "build again" in run("artifacts", *cache).out


def test_an_artifact_is_forgotten(run: Run, cache: tuple[str, Path]) -> None:
    assert run("forget", "arm", "--consumer", "planner", "--json", *cache).document == {
        "consumer": "planner", "name": "arm", "cache_dir": str(cache[1])
    }  # fmt: skip
    assert [a["name"] for a in run("artifacts", "planner", "--json", *cache).document] == ["leg"]
    wrong = run("forget", "lag", "--consumer", "planner", *cache)
    assert wrong.code == 5
    assert "did you mean 'leg'" in wrong.err
    assert "leg is no longer kept" in run("forget", "leg", "--consumer", "planner", *cache).out
