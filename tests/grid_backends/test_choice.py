"""Methods that pick one of several algorithms by a keyword argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import ReferenceFunctions, RobotHandle, RobotRecord
from grid_core.errors import AlgorithmNotBuiltError, ArgumentError, OptionError
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm, Choice, Input
from tests.grid_backends.toys import INPUTS, PAIR, TAU, TOY, declare, evaluate, expected

SLOW = declare("slow_toy", (TAU,))
WAYS = Choice("way", "quick", {"quick": "toy", "slow": "slow_toy"}, "How to get there.")
ANY = Algorithm("any_toy", "tests", "One of the toys.", INPUTS, (TAU,), requires=("toy", "slow_toy"), choice=WAYS)


def handle(model: Model, *built: str) -> Any:
    declared = {a.name: a for a in (TOY, SLOW, PAIR, ANY)}
    record = RobotRecord("flyer", model, declared, built, "float64")
    return RobotHandle(record, ReferenceFunctions(record, evaluate))


def test_the_value_picks_the_algorithm(model: Model) -> None:
    robot = handle(model, "toy", "slow_toy")
    q, qd = robot.random(0, 3), np.ones((3, model.nv))
    np.testing.assert_array_equal(robot.any_toy(q, qd, gravity=-1.0), expected(q, qd, gravity=-1.0))
    out = np.empty((3, model.nv))
    assert robot.any_toy(q, qd, way="slow", out=out) is out
    assert robot.capabilities()["any_toy"]["built"]


PILE = Input("pile", ("nx",), "Both in one vector")
STACKED = Choice("way", "quick", {"quick": "toy", "slow": "slow_toy"}, "How.", {"pile": ("q", "qd")})
PILED = Algorithm(
    "piled_toy", "tests", "A toy.", (PILE, *INPUTS[2:]), (TAU,), requires=("toy", "slow_toy"), choice=STACKED
)


def test_stacked_arguments_are_cut(model: Model) -> None:
    declared = {a.name: a for a in (TOY, SLOW, PILED)}
    record = RobotRecord("flyer", model, declared, ("toy", "slow_toy"), "float64")
    robot: Any = RobotHandle(record, ReferenceFunctions(record, evaluate))
    q, qd = robot.random(0, 3), np.ones((3, model.nv))
    pile = np.concatenate([q, qd], axis=1)
    np.testing.assert_array_equal(robot.piled_toy(pile, way="slow"), expected(q, qd))
    np.testing.assert_array_equal(robot.piled_toy(pile[1].tolist()), expected(q, qd)[1])
    for wrong in (q, pile[:, :-1], 3.0, None):
        with pytest.raises(ArgumentError, match="piled_toy: argument 'pile' has"):
            robot.piled_toy(wrong)


def test_unknown_values_are_named(model: Model) -> None:
    robot = handle(model, "toy")
    q, qd = robot.neutral(), np.ones(model.nv)
    for wrong in ("slowly", 3, None, ["slow"]):
        with pytest.raises(OptionError, match=r"any_toy: way is .*, expected one of quick, slow"):
            robot.any_toy(q, qd, way=wrong)
    with pytest.raises(AlgorithmNotBuiltError, match="'slow_toy'"):
        robot.any_toy(q, qd, way="slow")
    assert not robot.capabilities()["any_toy"]["built"]


def test_documentation_lists_the_values(model: Model) -> None:
    assert (
        "way : optional\n    How to get there: one of 'quick', 'slow'. Default 'quick'."
        in handle(model, "toy").any_toy.__doc__
    )
