"""What is measured beside the earlier version on a GPU: calls that exist, and figures over all robots or none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import grid_rbd
from benchmarks.calls import Call, host_arguments
from benchmarks.families_gpu import MECHANICS, SECOND_ORDER, STEPPING, Family

FAMILIES = (SECOND_ORDER, MECHANICS, STEPPING)
ARM = Path(__file__).parents[2] / "examples" / "robots" / "arm7.urdf"


@pytest.mark.parametrize("call", [c for f in FAMILIES for c in f.calls], ids=lambda call: call.name)
def test_every_call_is_one_of_ours(call: Call) -> None:
    arm = grid_rbd.load_robot(ARM, device="reference")
    results = call.on(arm, host_arguments(arm, 2, floating=False))()
    for result in results if isinstance(results, tuple) else (results,):
        assert len(result) == 2
        assert np.isfinite(result).all()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_calls_have_names_of_their_own(family: Family) -> None:
    assert len({call.name for call in family.calls}) == len(family.calls)


def test_some_of_the_robots_are_not_judged() -> None:
    ratios = {"iiwa14": [2.0, 8.0]}
    bars = {bar.key for bar in SECOND_ORDER.BARS}
    some = SECOND_ORDER.on(["iiwa14"])
    assert [robot.name for robot in some.robots] == ["iiwa14"]
    keys = {m.key: m.value for m in some.summary(ratios)}
    assert keys["gpu.second_order.iiwa14.speedup.geometric_mean"] == pytest.approx(4.0)
    assert not bars & set(keys)


def test_all_robots_are_judged_together() -> None:
    ratios = {robot.name: [2.0, 8.0] for robot in STEPPING.robots}
    keys = {m.key: m.value for m in STEPPING.summary(ratios)}
    assert keys["gpu.stepping.speedup.geometric_mean"] == pytest.approx(4.0)
    assert keys["gpu.stepping.speedup.smallest"] == 2.0
    assert not {m.key for m in STEPPING.summary({**ratios, "go2": []})} & {bar.key for bar in STEPPING.BARS}
