"""Loops over pairs and triples of coordinates give what straight-line code gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.kernel import Loop
from grid_core.kernel.settings import TraceSettings
from grid_core.toolchains import find_compiler
from grid_plugins.second_order import inverse
from tests.grid_core.units import compile_algorithm
from tests.grid_plugins.second_order.oracle import tensors
from tests.oracle.evaluation import algorithms, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES, Robot

ROBOTS = {name: GOLDEN[name] for name in ("iiwa14", "go2")} | MIXED
ROBOTS |= {
    name: TREES[name] for name in ("mimic chains", "spherical joints", "two trees in the world", "a massless link")
}
FRICTION = TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=0.3)


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_loops_of_inverse_dynamics(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    model = robot.model()
    inputs = random_inputs(model, 3, 2)
    unrolled = tensors("idsva_so", model, inputs, FRICTION)
    monkeypatch.setattr(inverse, "MANY", -1)
    looped = tensors("idsva_so", model, inputs, FRICTION)
    for key, expected in unrolled.items():
        assert relative_error(looped[key], expected, floor=1e-3) < 1e-12, key


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled_loops_of_a_humanoid(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = HUMANOIDS["humanoid29"].model()
    inputs = inputs_of("idsva_so", random_inputs(model, 5, 21))
    inputs = {key: value.astype(dtype).astype(float) for key, value in inputs.items()}
    algorithm = algorithms()["idsva_so"]
    assert any(isinstance(a, Loop) for a in trace_algorithm(algorithm, model, algorithms()).actions)
    unit = compile_algorithm(find_compiler(), algorithm, tmp_path, model=model, algorithms=algorithms(), dtype=dtype)
    found = unit("idsva_so", inputs, 21)
    monkeypatch.setattr(inverse, "MANY", 10**9)
    for key, expected in evaluate(trace_algorithm(algorithm, model, algorithms()), inputs).items():
        tolerance = 1e-12 if dtype == "float64" else 5e-4
        assert np.abs(found[key] - expected).max() <= tolerance * np.abs(expected).max(), key
