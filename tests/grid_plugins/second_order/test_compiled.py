"""Compiled units of trees with spherical and skew joints, with joint friction and wrenches, in both precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.robots import TREES

OPTIONS: dict[str, Any] = {"use_joint_dynamics": True, "friction_model": "tanh", "friction_width": 0.4}
TOLERANCES = {"float64": 1e-9, "float32": 5e-4}


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("tree", ["spherical joints", pytest.param("skew axes", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["idsva_so", "fdsva_so"])
def test_numbers(name: str, tree: str, dtype: str, compiled: Callable[..., Any]) -> None:
    robot = compiled(TREES[tree].urdf, floating_base=TREES[tree].floating_base, dtype=dtype, **OPTIONS)
    reference = compiled(
        TREES[tree].urdf, floating_base=TREES[tree].floating_base, dtype="float64", device="reference", **OPTIONS
    )
    generator = np.random.default_rng(0)
    q, wrenches = robot.random(0, 19), 0.1 * generator.normal(size=(19, 6 * robot.nb)).astype(dtype)
    qd, force = generator.normal(size=(2, 19, robot.nv)).astype(dtype)
    found = getattr(robot, name)(q, qd, force, f_ext=wrenches)
    expected = getattr(reference, name)(*(x.astype(float) for x in (q, qd, force)), f_ext=wrenches.astype(float))
    for field, value in found._asdict().items():
        assert value.dtype == dtype
        exact = getattr(expected, field)
        assert np.abs(value - exact).max() <= TOLERANCES[dtype] * max(1.0, np.abs(exact).max()), field
