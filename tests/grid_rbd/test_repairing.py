"""Verifying and repairing: what was damaged is built again from the kept description, or forgotten."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import grid_rbd
from grid_consumers.record import FIELDS, SCHEMA
from grid_store import CorruptEntryError, Key, Store, StoreUnavailableError
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import GOLDEN, PENDULUM


@pytest.fixture(autouse=True)
def _compiler(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", stub.command)


@pytest.fixture
def arm(root: Path, stub: Stub) -> dict[str, Any]:
    """The record of a registered robot."""
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, algorithm_list="minv", dtype="float64")
    stub.compiled()
    record = Store(root).resolve("arm")
    assert record
    return record


def _damage(root: Path, key: str, name: str) -> None:
    path = root / "v1" / "objects" / key[:2] / key / name
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_whole_store(arm: dict[str, Any], root: Path) -> None:
    report = grid_rbd.verify_cache(root)
    assert (report["ok"], report["damaged"], report["robots"]) == (True, [], {})
    assert report["entries"] == len(list(Store(root).entries()))
    assert report["bytes"] > 1000
    empty = {"damaged": [], "robots": [], "artifacts": [], "artifacts_left": {}}
    assert grid_rbd.repair_cache(root) == {"cache_dir": str(root), **empty, "ok": True}


def test_a_damaged_unit_is_built_again(arm: dict[str, Any], root: Path, stub: Stub) -> None:
    _damage(root, arm["units"]["crba"], "unit.so")
    found = grid_rbd.verify_cache(root)
    assert (found["ok"], [d["item"] for d in found["damaged"]]) == (False, [arm["units"]["crba"]])
    report = grid_rbd.repair_cache(root)
    assert [(r["name"], r["outcome"]) for r in report["robots"]] == [("arm", "rebuilt")]
    assert "the unit of 'crba' is no longer in the store" in report["robots"][0]["reason"]
    assert stub.compiled() == ["crba"]
    assert grid_rbd.verify_cache(root)["ok"]
    assert Store(root).resolve("arm") == arm
    assert grid_rbd.get_robot("arm", root).nv == 2


def test_without_its_description_a_robot_is_forgotten(arm: dict[str, Any], root: Path, stub: Stub) -> None:
    _damage(root, arm["model"], "robot.urdf")
    report = grid_rbd.repair_cache(root)
    assert [(r["name"], r["outcome"]) for r in report["robots"]] == [("arm", "forgotten")]
    assert report["ok"]
    assert grid_rbd.list_registered(root) == []
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, algorithm_list="minv", dtype="float64")
    assert stub.compiled() == [], "its units are still there"


def test_a_broken_record_is_forgotten(arm: dict[str, Any], root: Path) -> None:
    (name,) = (root / "v1" / "names").iterdir()
    name.chmod(0o600)
    name.write_text("{")
    assert not grid_rbd.verify_cache(root)["ok"]
    with pytest.raises(CorruptEntryError, match=r"nothing is collected, .* is broken"):
        grid_rbd.gc_cache(root)
    (robot,) = grid_rbd.repair_cache(root)["robots"]
    assert (robot["name"], robot["outcome"]) == ("arm", "forgotten")
    assert "register it again" in robot["reason"]
    assert "collect" not in robot["reason"]
    assert grid_rbd.list_registered(root) == []


@pytest.mark.parametrize("record", [{}, {"units": {}}, {"schema": 1}])
def test_a_record_that_says_nothing_is_forgotten(record: dict[str, Any], arm: dict[str, Any], root: Path) -> None:
    Store(root).bind("nothing", record)
    (robot,) = grid_rbd.repair_cache(root)["robots"]
    assert (robot["name"], robot["outcome"]) == ("nothing", "forgotten")
    assert grid_rbd.list_registered(root) == ["arm"]
    assert grid_rbd.verify_cache(root)["ok"]


def test_what_cannot_be_built_fails_and_keeps_its_name(
    arm: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _damage(root, arm["units"]["crba"], "unit.so")
    monkeypatch.setenv("STUB_MODE", "fail")
    report = grid_rbd.repair_cache(root)
    assert (report["ok"], report["robots"][0]["outcome"]) == (False, "failed")
    assert "no such luck" in report["robots"][0]["reason"]
    assert grid_rbd.list_registered(root) == ["arm"]
    monkeypatch.setenv("STUB_MODE", "")
    assert grid_rbd.repair_cache(root)["robots"][0]["outcome"] == "rebuilt"


def test_a_record_of_another_version_is_left_to_its_owner(arm: dict[str, Any], root: Path) -> None:
    Store(root).bind("old", {**arm, "schema": 0})
    (robot,) = grid_rbd.repair_cache(root)["robots"]
    assert (robot["name"], robot["outcome"]) == ("old", "failed")
    assert grid_rbd.list_registered(root) == ["arm", "old"]


def test_artifacts_that_lost_their_files_are_forgotten(arm: dict[str, Any], root: Path) -> None:
    store = Store(root)
    content = Key({"artifact": 1})
    entry = store.obtain(content, lambda folder: {"size": (folder / "planner.so").write_bytes(b"code")})
    fields = {kind: kind() for kind in set(FIELDS.values())}
    record = {name: fields[kind] for name, kind in FIELDS.items()} | {"schema": SCHEMA, "content": entry.key}
    store.bind("arm", {**record, "artifact": "planner.so", "level": "x86-64-v2"}, consumer="planner")
    assert grid_rbd.verify_cache(root)["ok"]
    _damage(root, entry.key, "planner.so")
    found = grid_rbd.verify_cache(root)
    assert (found["ok"], [d["item"] for d in found["damaged"]]) == (False, [entry.key])
    store.bind("newer", {**record, "schema": SCHEMA + 1}, consumer="planner")
    store.bind("wrong", {**record, "files": 3}, consumer="planner")
    store.bind("empty", {}, consumer="planner")
    report = grid_rbd.repair_cache(root)
    assert report["artifacts"] == ["planner/arm", "planner/empty", "planner/wrong"]
    assert report["artifacts_left"] == {
        "planner/newer": [f"its record has schema {SCHEMA + 1}, this version reads {SCHEMA}"]
    }
    assert not report["ok"]
    assert store.names(consumer="planner") == ["newer"], "it belongs to another version"
    assert grid_rbd.verify_cache(root)["artifacts"].keys() == {"planner/newer"}


def test_random_loss(arm: dict[str, Any], root: Path) -> None:
    for n, source in enumerate((PENDULUM, GOLDEN / "iiwa14.urdf")):
        grid_rbd.register_robot(f"robot {n}", source, cache_dir=root, algorithm_list="minv")
    files = sorted(path for path in (root / "v1").rglob("*") if path.is_file() and "locks" not in path.parts)
    for path in random.Random(1).sample(files, len(files) // 10):
        path.unlink()
    grid_rbd.repair_cache(root)
    assert grid_rbd.verify_cache(root)["ok"]
    for name in grid_rbd.list_registered(root):
        grid_rbd.get_robot(name, root)


def test_a_store_that_cannot_be_written_is_not_repaired(root: Path) -> None:
    root.write_text("a file")
    with pytest.raises(StoreUnavailableError, match="not a directory"):
        grid_rbd.repair_cache(root)
    with pytest.raises(StoreUnavailableError, match="not a directory"):
        grid_rbd.verify_cache(root)
