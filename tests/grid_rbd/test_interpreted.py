"""Robots for ``device="reference"``: whatever registers one, nothing is compiled and no compiler is looked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grid_rbd
from grid_rbd.cli.planning import INTERPRETED
from tests.command_line import run
from tests.grid_core.units import PENDULUM

OPTIONS = {"device": "reference", "algorithm_list": "crba"}


def _warm(root: Path) -> None:
    key, place, record = grid_rbd.warm_robot("arm", PENDULUM, cache_dir=root, **OPTIONS)
    assert (place, record["units"], record["model"]) == (root, {}, key)


def _precompile(root: Path) -> None:
    (made,) = grid_rbd.precompile("arm", PENDULUM, tiers=[OPTIONS], cache_dir=root)
    assert made["facts"]["device"] == "reference"


def _build_many(root: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        grid_rbd.build_many(
            [{"name": "arm", "urdf_path": PENDULUM, **OPTIONS}, {"name": "other", "urdf_path": PENDULUM, **OPTIONS}],
            executor=executor,
            cache_dir=root,
        )


def _from_plan(root: Path) -> None:
    plan = grid_rbd.build_plan("arm", PENDULUM, cache_dir=root, **OPTIONS)
    report = grid_rbd.build_from_plan(plan, shard="2/3", cache_dir=root)
    assert (report["built"], report["missing"], report["registered"]) == ([], [], True)


@pytest.mark.parametrize("register", [_warm, _precompile, _build_many, _from_plan])
def test_it_is_registered_without_a_compiler(register: Any, root: Path, no_compiler: None) -> None:
    register(root)
    robot = grid_rbd.get_robot("arm", root)
    assert robot.device == "reference"
    assert np.all(np.linalg.eigvalsh(robot.crba(robot.neutral())) > 0)


def test_its_plan_has_no_units(root: Path, no_compiler: None) -> None:
    plan = grid_rbd.build_plan("arm", PENDULUM, cache_dir=root, **OPTIONS)
    assert (plan["units"], plan["cached"], plan["would"], plan["expected"]["seconds"]) == ([], True, "load", 0)
    assert not root.exists()
    key, *_ = grid_rbd.warm_robot("arm", PENDULUM, cache_dir=root, **OPTIONS)
    assert plan["content_key"] == key
    assert grid_rbd.build_plan("arm", cache_dir=root)["input_key"] == plan["input_key"]
    for command in ("plan", "explain"):
        assert run(command, "arm", "--cache-dir", root).out.strip() == INTERPRETED


def test_the_plan_of_compiled_units_has_the_same_fields(root: Path, tmp_path: Path) -> None:
    compiled = grid_rbd.build_plan("arm", PENDULUM, cache_dir=root, algorithm_list="crba")
    assert grid_rbd.build_plan("arm", PENDULUM, cache_dir=root, **OPTIONS).keys() == compiled.keys()
