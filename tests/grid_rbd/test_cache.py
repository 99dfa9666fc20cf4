"""The cache as users see it: plans, warming, precompiling, listing, collecting."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

import grid_rbd
from grid_core.build.entry import make_record
from grid_store import Store
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import GOLDEN, PENDULUM


@pytest.fixture
def base(stub: Stub, root: Path) -> dict[str, Any]:
    return {"cache_dir": root, "compiler": stub.command, "algorithm_list": "minv"}


def test_the_default_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRID_RBD_CACHE_DIR", str(tmp_path))
    assert grid_rbd.default_cache_dir() == tmp_path
    monkeypatch.delenv("GRID_RBD_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert grid_rbd.default_cache_dir() == tmp_path / "xdg" / "grid-rbd"


def test_plans_have_the_documented_fields(base: dict[str, Any], stub: Stub, root: Path) -> None:
    plan = grid_rbd.build_plan("arm", PENDULUM, **base)
    assert {
        "name", "cache_dir", "cuda_arch", "code_options", "build_identity", "input_key", "content_key", "cached",
        "stale_reasons", "store_dir", "would",
    } <= set(plan)  # fmt: skip
    assert (plan["name"], plan["cache_dir"], plan["cuda_arch"]) == ("arm", str(root), None)
    assert (plan["cached"], plan["content_key"], plan["stale_reasons"]) == (False, None, None)
    assert plan["would"].startswith("generate+compile (crba: it has not been built before")
    assert plan["code_options"]["dtype"] == "float32"
    assert stub.compiled() == []
    assert grid_rbd.list_registered(root) == []

    grid_rbd.register_robot("arm", PENDULUM, **base)
    after = grid_rbd.build_plan("arm", PENDULUM, **base)
    assert (after["cached"], after["would"], after["stale_reasons"]) == (True, "load", None)
    assert after["input_key"] == plan["input_key"]
    assert after["content_key"]
    assert {u["status"] for u in after["units"]} == {"hit"}

    other = grid_rbd.build_plan("arm", PENDULUM, **base, dtype="float64")
    assert other["stale_reasons"] == ["crba: options changed", "minv: options changed"]
    assert other["input_key"] != plan["input_key"]
    assert grid_rbd.build_plan("arm", urdf_string=PENDULUM.read_text(), **base)["input_key"] == plan["input_key"]


def test_warming_builds_without_loading(
    base: dict[str, Any], stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grid_rbd.handles.record_of", lambda *_, **__: pytest.fail("a handle was made"))
    planned = grid_rbd.warm_robot("arm", PENDULUM, plan_only=True, **base)
    assert planned == grid_rbd.build_plan("arm", PENDULUM, **base)
    key, place, meta = grid_rbd.warm_robot("arm", PENDULUM, **base)
    assert (key, place) == (grid_rbd.build_plan("arm", PENDULUM, **base)["content_key"], root)
    assert list(meta["units"]) == ["crba", "minv"]
    assert stub.compiled() == ["crba", "minv"]
    assert grid_rbd.warm_robot("arm", PENDULUM, **base)[0] == key
    assert stub.compiled() == []
    grid_rbd.warm_robot("arm", PENDULUM, force_rebuild=True, **base)
    assert stub.compiled() == ["crba", "minv"]


def test_what_is_collected_before_a_name_keeps_it_is_built_again(
    base: dict[str, Any], stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[str] = []

    def collect_once(*arguments: Any) -> dict[str, Any]:
        if not collected:
            collected.extend(Store(root).gc(execute=True, minimum_age=0.0)["entries_removed"])
        return make_record(*arguments)

    monkeypatch.setattr("grid_rbd.warming.make_record", collect_once)
    _, _, record = grid_rbd.warm_robot("arm", PENDULUM, force_rebuild=True, **base)
    assert {record["model"], *record["units"].values()} <= {*collected}
    assert stub.compiled() == ["crba", "crba", "minv", "minv"]
    assert grid_rbd.verify_cache(root)["ok"]


def test_precompiling_tiers(stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", stub.command)
    few = {"algorithm_list": "crba"}
    (one,) = grid_rbd.precompile("arm", PENDULUM, tiers=[few], cache_dir=root)
    assert (one["name"], one["backend"], list(one["units"])) == ("arm", "numpy", ["crba"])
    assert stub.compiled() == ["crba"]
    tiers = [few, {**few, "floating_base": True}, {**few, "dtype": "float64"}]
    several = grid_rbd.precompile("arm", PENDULUM, tiers=iter(tiers), cache_dir=root, max_batch_size=8)
    assert [t["name"] for t in several] == ["arm__tier0", "arm__tier1", "arm__tier2"]
    assert stub.compiled() == ["crba", "crba"], "the first tier is there already"
    assert grid_rbd.list_registered(root) == ["arm", "arm__tier0", "arm__tier1", "arm__tier2"]
    assert grid_rbd.get_robot("arm__tier1", root).floating_base
    assert grid_rbd.get_robot("arm__tier2", root).max_batch == 8
    monkeypatch.setattr("grid_rbd.backends.find_spec", lambda name: None)
    with pytest.raises(grid_rbd.FrameworkMissingError, match="the package 'torch' is not installed"):
        grid_rbd.precompile("arm", PENDULUM, tiers=[few], backends=("torch",), cache_dir=root)
    with pytest.raises(grid_rbd.OptionError, match="unknown option 'floating'"):
        grid_rbd.precompile("arm", PENDULUM, tiers=[{"floating": True}], cache_dir=root)
    assert len(grid_rbd.precompile("all", PENDULUM, cache_dir=root)) == 1
    assert len(stub.compiled()) > 5, "by default everything"


def test_collecting(base: dict[str, Any], stub: Stub, root: Path) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base)
    grid_rbd.register_robot("other", GOLDEN / "iiwa14.urdf", **base)
    report = grid_rbd.gc_cache(root)
    assert {
        "cache_dir", "executed", "entries_kept", "entries_removed", "entries_bytes", "pointers_removed",
        "staging_removed", "objects_removed", "objects_bytes",
    } <= set(report)  # fmt: skip
    assert (report["cache_dir"], report["executed"]) == (str(root), False)
    before = {entry.key for entry in Store(root).entries()}
    grid_rbd.gc_cache(root, execute=True)
    kept = {entry.key for entry in Store(root).entries()}
    assert all(e.meta["kind"] == "compiler" for e in Store(root).entries() if e.key not in kept)
    for name in ("arm", "other"):
        grid_rbd.get_robot(name, root)
    assert kept <= before
    assert grid_rbd.list_registered(root) == ["arm", "other"]
    stub.compiled()
    grid_rbd.register_robot("arm", PENDULUM, **base)
    assert stub.compiled() == []


def test_a_store_that_was_moved_and_one_behind_a_link_serve_hits(
    base: dict[str, Any], stub: Stub, root: Path, tmp_path: Path
) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base)
    stub.compiled()
    moved, link = tmp_path / "moved", tmp_path / "link"
    root.rename(moved)
    link.symlink_to(moved)
    for place in (moved, link):
        assert grid_rbd.get_robot("arm", place).nv == 2
        grid_rbd.register_robot("arm", PENDULUM, **{**base, "cache_dir": place})
        assert grid_rbd.build_plan("arm", PENDULUM, **{**base, "cache_dir": place})["cached"]
    assert stub.compiled() == []


def test_limits_of_collections(base: dict[str, Any], root: Path) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base)
    Store(root).unbind("arm")
    for record in (root / "v1" / "objects").glob("*/*/record.json"):
        os.utime(record, (1.0, 1.0))
    everything = grid_rbd.gc_cache(root)["entries_removed"]
    assert len(everything) == 4
    assert grid_rbd.gc_cache(root, max_bytes=10**9)["entries_removed"] == []
    assert grid_rbd.gc_cache(root, max_bytes=0)["entries_removed"] == everything
    assert grid_rbd.gc_cache(root, minimum_hours=10**9)["entries_removed"] == []


def test_an_empty_place(root: Path) -> None:
    assert grid_rbd.list_registered(root) == []
    assert grid_rbd.gc_cache(root)["entries_removed"] == []
    assert not root.exists()


def test_the_progress_display_is_for_terminals(
    base: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    grid_rbd.register_robot("[/odd] arm", PENDULUM, **base, force_rebuild=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "building [/odd] arm" in re.sub(r"\x1b\[[\d;]*m", "", err)
    monkeypatch.setenv("GRID_RBD_QUIET", "1")
    grid_rbd.register_robot("arm", PENDULUM, **base, force_rebuild=True)
    assert capsys.readouterr() == ("", "")
