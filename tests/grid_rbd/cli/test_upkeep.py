"""Commands that look after the store."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grid_store.layout import AREAS
from tests.grid_core.build.conftest import Stub

from .conftest import Run


@pytest.fixture
def cache(tmp_path: Path, stub: Stub, run: Run, pendulum: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """A store with one robot of one unit."""
    monkeypatch.setenv("CXX", stub.command)
    where = ("--cache-dir", tmp_path / "store")
    assert run("build", pendulum, "--name", "pendulum [1]", "--algorithms", "crba", *where).code == 0
    return where


def _cut(cache: tuple[str, Path]) -> None:
    (unit,) = (cache[1] / "v1" / "objects").glob("*/*/unit.so")
    unit.chmod(0o600)
    os.truncate(unit, 10)


def test_verify_and_repair(run: Run, cache: tuple[str, Path]) -> None:
    whole = run("verify", *cache)
    assert (whole.code, "everything holds" in whole.out) == (0, True)
    assert "nothing is damaged" in run("repair", *cache).out
    _cut(cache)
    ran = run("verify", *cache)
    assert ran.code == 1
    assert "unit.so has 10 bytes instead of" in ran.out
    assert "pendulum [1]: the unit of 'crba' is no longer in the store" in ran.out
    assert "grid-rbd repair" in ran.out
    document = run("verify", "--json", *cache).document
    assert (document["ok"], document["damaged"][0]["kind"]) == (False, "entry")
    mended = run("repair", *cache)
    assert mended.code == 0
    assert "rebuilt pendulum [1]" in mended.out
    assert run("repair", "--json", *cache).document["robots"] == []
    assert run("verify", *cache).code == 0


def test_a_repair_that_fails_has_a_code(run: Run, cache: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _cut(cache)
    monkeypatch.setenv("STUB_MODE", "fail")
    ran = run("repair", *cache)
    assert (ran.code, "failed pendulum [1]" in ran.out) == (1, True)


def test_gc_reports_first_and_deletes_when_told(run: Run, cache: tuple[str, Path], pendulum: Path) -> None:
    (record,) = (cache[1] / "v1" / "names").iterdir()
    kept = json.loads(record.read_text())
    assert run("gc", "--json", *cache).document["entries_removed"] == []
    text = run("gc", *cache)
    assert text.code == 0
    assert "0 entries" in text.out
    report = run("gc", "--execute", "--json", *cache).document
    assert report["executed"] is True
    assert run("show", "pendulum [1]", "--json", *cache).document["units"]["crba"]["key"] == kept["units"]["crba"]


def test_gc_lists_what_goes_and_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def report(*_: object, execute: bool, **__: object) -> dict[str, object]:
        return {
            "cache_dir": "/cache", "executed": execute, "entries_kept": 3, "entries_removed": ["ab" * 32],
            "entries_bytes": 2_500_000, "objects_bytes": 0, "reasons": {"ab" * 32: "no name leads to it"},
        }  # fmt: skip

    monkeypatch.setattr("grid_rbd.cli.upkeep.gc_cache", report)
    dry = run("gc").out
    assert "no name leads to it" in dry
    assert "1 entry, 2.5 MB would be removed; 3 kept" in dry
    assert "the same command with --execute removes them" in dry
    assert "2.5 MB removed" in run("gc", "--execute").out


def test_gc_takes_a_size_and_an_age(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def report(_: object, **options: object) -> dict[str, object]:
        asked.update(options)
        return {"reasons": {}, "entries_bytes": 0, "objects_bytes": 0, "entries_kept": 0, "cache_dir": "/cache"}

    monkeypatch.setattr("grid_rbd.cli.upkeep.gc_cache", report)
    assert run("gc", "--max-size", "1.5G", "--min-hours", "0.5", "--objects-days", "3").code == 0
    assert asked == {"execute": False, "objects_days": 3.0, "max_bytes": 1_500_000_000, "minimum_hours": 0.5}
    refused = run("gc", "--max-size", "much")
    assert (refused.code, "--max-size is 'much', expected a number of bytes" in refused.err) == (2, True)


def test_root_shows_what_is_kept(run: Run, cache: tuple[str, Path], tmp_path: Path) -> None:
    store, key = cache[1], next((cache[1] / "v1" / "objects").glob("*/*/unit.so")).parent.name
    (store / "v1" / "consumers" / "planner").mkdir()
    (store / "v1" / "consumers" / "planner" / "arm.json").write_text(json.dumps({"object": key}))
    document = run("root", "--json", *cache).document
    assert document["cache_dir"] == str(store)
    assert [(root["kind"], root["name"], root["entries"]) for root in document["roots"]] == [
        ("consumer", "planner/arm", 1),
        ("name", "pendulum [1]", 2),
    ]
    assert all(root["bytes"] > 0 for root in document["roots"])
    text = run("root", *cache).out
    assert text.startswith(str(store))
    assert "pendulum [1]" in text
    assert run("root", "--cache-dir", tmp_path / "empty").out == f"{tmp_path / 'empty'}\n"


def test_stats(run: Run, cache: tuple[str, Path]) -> None:
    document = run("stats", "--json", *cache).document
    assert document["robots"] == 1
    assert {kind: counts["number"] for kind, counts in document["entries"].items()} == {
        "compiler": 1, "model": 1, "unit": 1,
    }  # fmt: skip
    assert set(document["areas"]) == set(AREAS)
    assert document["areas"]["names"]["files"] == 1
    files = [path.lstat().st_size for path in (cache[1] / "v1").rglob("*") if path.is_file()]
    assert document["bytes"] == sum(files)
    text = run("stats", *cache).out
    assert "compiler" in text
    assert "1 robot," in text


def test_config_names_every_origin(run: Run, cache: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRID_RBD_THREADS", "CUDA_HOME", "GRID_RBD_CUDA_ARCHS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GRID_RBD_BUILD_JOBS", "3")
    found = {setting["name"]: setting for setting in run("config", "--json", *cache).document}
    assert (found["cache_dir"]["value"], found["cache_dir"]["origin"]) == (str(cache[1]), "argument")
    assert (found["build_jobs"]["value"], found["build_jobs"]["origin"]) == (3, "environment GRID_RBD_BUILD_JOBS")
    assert found["cxx"]["origin"] == "environment CXX"
    assert (found["threads"]["origin"], found["cuda_home"]["value"]) == ("default", None)
    monkeypatch.setenv("GRID_RBD_CACHE_DIR", str(cache[1]))
    origins = {setting["name"]: setting["origin"] for setting in run("config", "--json").document}
    assert origins["cache_dir"] == "environment GRID_RBD_CACHE_DIR"
    assert "where robots are kept" in " ".join(run("config", *cache).out.split())
    monkeypatch.setenv("GRID_RBD_BUILD_JOBS", "many")
    assert run("config").code == 2


def test_long_values_are_not_cut(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = run("config", "--cache-dir", tmp_path / ("Q" * 100)).out
    assert (out.count("Q"), "…" in out) == (100, False)
