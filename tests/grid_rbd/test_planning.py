"""Plans: what would be built, why, and what recorded builds say that it takes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import grid_rbd
from grid_core.build.costs import Cost, total
from grid_core.toolchains import search
from grid_core.toolchains.toolchain import compiler_text
from grid_rbd.examples import find_description
from grid_rbd.explaining import COMPONENTS, explain_plan
from grid_store import Store
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import GOLDEN, PENDULUM

IIWA = GOLDEN / "iiwa14.urdf"


@pytest.fixture
def base(stub: Stub, root: Path) -> dict[str, Any]:
    return {"cache_dir": root, "compiler": stub.command, "algorithm_list": "minv"}


def _units(report: dict[str, Any], field: str) -> dict[str, Any]:
    return {unit["algorithm"]: unit[field] for unit in report["units"]}


def test_what_was_built_from_something_else_is_stale(base: dict[str, Any]) -> None:
    assert set(_units(grid_rbd.build_plan("arm", PENDULUM, **base), "status").values()) == {"miss"}
    grid_rbd.register_robot("arm", PENDULUM, **base)
    report = grid_rbd.build_plan(
        "arm", PENDULUM, **{**base, "algorithm_list": "minv,generalized_gravity"}, dtype="float64"
    )
    assert _units(report, "status") == {"crba": "stale", "minv": "stale", "generalized_gravity": "miss"}
    assert _units(report, "changed") == {"crba": ["options"], "minv": ["options"], "generalized_gravity": []}
    assert report["changes"] == {"options": ["dtype: float32 -> float64"]}


def test_every_component_of_a_key_has_a_name(base: dict[str, Any], root: Path) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base)
    record = Store(root).resolve("arm")
    assert record
    assert record["inputs"]["crba"].keys() <= COMPONENTS.keys()


def test_sentences(base: dict[str, Any], root: Path) -> None:
    crba = {**base, "algorithm_list": "crba"}
    assert explain_plan(grid_rbd.build_plan("arm", PENDULUM, **crba)) == {
        "crba": "It would be compiled, because it has not been built before."
    }
    grid_rbd.register_robot("arm", PENDULUM, **crba)
    assert explain_plan(grid_rbd.build_plan("arm", PENDULUM, **crba)) == {
        "crba": "It is stored, and nothing that it was made from has changed."
    }
    double = grid_rbd.build_plan("arm", PENDULUM, **crba, dtype="float64")
    assert explain_plan(double) == {
        "crba": "It would be compiled again, because the options (dtype: float32 -> float64) differ from what 'arm' "
        "was built from."
    }
    other = grid_rbd.build_plan("arm", IIWA, **crba, cpu_level="x86-64-v2")
    assert explain_plan(other)["crba"] == (
        "It would be compiled again, because the description and the instruction set "
        f"({other['changes']['level'][0]}) differ from what 'arm' was built from."
    )
    described = grid_rbd.build_plan("arm", urdf_string=PENDULUM.read_text() + "<!-- -->", **crba)
    assert "because the description differs from what 'arm'" in explain_plan(described)["crba"]
    (unit,) = [entry for entry in Store(root).entries() if entry.meta["kind"] == "unit"]
    unit.path("unit.so").unlink()
    lost = grid_rbd.build_plan("arm", PENDULUM, **crba)
    assert explain_plan(lost)["crba"].endswith("because its files are damaged or no longer in the store.")


ACME = """#!/bin/sh
case "$*" in --version) echo "g++ (Acme) 99.1.0"; echo "$ACME";; *) exec {stub} "$@";; esac
"""


def test_another_compiler_is_told_with_both_versions(
    base: dict[str, Any], tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = tmp_path / "acme"
    acme.write_text(ACME.format(stub=stub.command))
    acme.chmod(0o755)
    before = compiler_text(grid_rbd.build_plan("arm", PENDULUM, **base)["build_identity"]["compiler"])
    grid_rbd.register_robot("arm", PENDULUM, **base)
    other = {**base, "compiler": str(acme)}
    report = grid_rbd.build_plan("arm", PENDULUM, **other)
    assert report["changes"] == {"compiler": [f"{before} -> gcc (Acme) 99.1.0"]}
    assert explain_plan(report)["crba"] == (
        f"It would be compiled again, because the compiler ({before} -> gcc (Acme) 99.1.0) differs from what 'arm' "
        "was built from."
    )
    grid_rbd.register_robot("arm", PENDULUM, **other)
    monkeypatch.setenv("ACME", "second edition")
    monkeypatch.setattr(search, "_working", {})
    (tmp_path / "acme").write_text(ACME.format(stub=stub.command) + "#\n")
    (line,) = grid_rbd.build_plan("arm", PENDULUM, **other)["changes"]["compiler"]
    assert line == "version: (Acme) 99.1.0 -> (Acme) 99.1.0 second edition"


def test_a_registered_robot_is_planned_from_its_own_description(
    base: dict[str, Any], monkeypatch: pytest.MonkeyPatch, stub: Stub
) -> None:
    monkeypatch.setenv("CXX", stub.command)
    grid_rbd.register_robot("arm", PENDULUM, **base, dtype="float64")
    here = {"cache_dir": base["cache_dir"]}
    report = grid_rbd.build_plan("arm", **here)
    assert (report["cached"], report["code_options"]["dtype"]) == (True, "float64")
    assert report["input_key"] == grid_rbd.build_plan("arm", PENDULUM, **base, dtype="float64")["input_key"]
    with pytest.raises(grid_rbd.OptionError, match="dtype: robot 'arm' is planned as it was registered"):
        grid_rbd.build_plan("arm", **here, dtype="float32")
    with pytest.raises(
        grid_rbd.RobotNotRegisteredError, match=r"no robot 'ram' is registered in .* did you mean 'arm'"
    ):
        grid_rbd.build_plan("ram", **here)


def test_a_broken_record_is_no_missing_robot(base: dict[str, Any], root: Path) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base)
    Store(root).bind("arm", {"schema": 0})
    with pytest.raises(grid_rbd.StaleRobotError, match="robot 'arm' cannot be loaded: its record has schema 0"):
        grid_rbd.build_plan("arm", cache_dir=root)


def test_costs_come_from_the_most_similar_build(base: dict[str, Any], root: Path) -> None:
    first = grid_rbd.build_plan("small", PENDULUM, **base)
    assert _units(first, "expected") == {"crba": None, "minv": None}
    assert first["expected"]["unknown"] == ["crba", "minv"]
    assert first["expected"]["seconds"] == 0
    grid_rbd.register_robot("small", PENDULUM, **base)
    grid_rbd.register_robot("large", IIWA, **base)
    assert grid_rbd.build_plan("small", PENDULUM, **base)["expected"]["compile_seconds"] == 0
    planned = grid_rbd.build_plan(
        "dog", find_description("quadruped12"), **{**base, "algorithm_list": "minv,generalized_gravity"}
    )
    expected = _units(planned, "expected")
    assert {expected["crba"]["robot"], expected["minv"]["robot"]} == {"large"}
    stored = {
        e.meta["algorithm"]: e.meta for e in Store(root).entries() if e.meta.get("nv") == 7 and "seconds" in e.meta
    }
    assert expected["crba"]["seconds"] == stored["crba"]["seconds"]
    assert expected["crba"]["memory"] == stored["crba"]["memory"] > 100_000
    assert planned["expected"]["unknown"] == ["generalized_gravity"]
    assert planned["expected"]["compile_seconds"] == pytest.approx(sum(unit["seconds"] for unit in stored.values()))
    small = grid_rbd.build_plan("other", GOLDEN / "double_pendulum_continuous.urdf", **base, floating_base=True)
    assert {cost["robot"] for cost in _units(small, "expected").values()} == {"large"}, "8 is nearer to 7 than to 2"


def test_the_arguments_of_a_registration_make_its_plan(base: dict[str, Any]) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base, force_rebuild=True)
    assert grid_rbd.build_plan("arm", PENDULUM, **base, force_rebuild=True)["would"] == "load"


def test_asking_for_costs_is_no_use(base: dict[str, Any], root: Path) -> None:
    grid_rbd.register_robot("arm", PENDULUM, **base)
    records = list((root / "v1" / "objects").glob("*/*/record.json"))
    for record in records:
        os.utime(record, (1.0, 1.0))
    grid_rbd.build_plan("other", IIWA, **base)
    touched = [record for record in records if record.stat().st_mtime != 1.0]
    assert all("compiler" in record.read_text() for record in touched)


def test_totals_share_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRID_RBD_BUILD_JOBS", "2")
    costs = [Cost(seconds, memory, "arm") for seconds, memory in ((4.0, 10), (3.0, 30), (2.0, 20), (1.0, 5))]
    found = total(costs)
    assert (found.compile_seconds, found.seconds, found.memory, found.workers) == (10.0, 5.0, 50, 2)
    assert total([]).seconds == 0


def test_a_unit_that_is_built_again_is_the_same(base: dict[str, Any], stub: Stub, root: Path) -> None:
    from grid_rbd.reproducing import check_robot

    missing = check_robot("arm", PENDULUM, **base)
    assert (missing["ok"], {u["outcome"] for u in missing["units"]}) == (False, {"missing"})
    grid_rbd.register_robot("arm", PENDULUM, **base)
    stub.compiled()
    before = {entry.key for entry in Store(root).entries()}
    assert check_robot("arm", PENDULUM, **base)["ok"]
    assert stub.compiled() == ["crba", "minv"]
    assert {entry.key for entry in Store(root).entries()} == before
