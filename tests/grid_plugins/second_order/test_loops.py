"""Loops over pairs and triples of coordinates give what straight-line code gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.kernel import Loop
from grid_core.kernel.settings import TraceSettings
from grid_core.toolchains import find_compiler
from grid_plugins.second_order import looped
from tests.grid_core.units import compile_algorithm
from tests.grid_plugins.second_order.oracle import tensors
from tests.oracle.evaluation import algorithms, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES, Robot

ROBOTS = {name: GOLDEN[name] for name in ("iiwa14", "go2")} | MIXED
ROBOTS |= {
    name: TREES[name] for name in ("mimic chains", "spherical joints", "two trees in the world", "a massless link")
}
FRICTION = TraceSettings(joint_dynamics=True, friction_model="tanh", friction_width=0.3)


@pytest.mark.parametrize("name", ["idsva_so", "fdsva_so"])
@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_loops(robot: Robot, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = robot.model()
    inputs = random_inputs(model, 3, 2)
    unrolled = tensors(name, model, inputs, FRICTION)
    monkeypatch.setattr(looped, "MANY", -1)
    found = tensors(name, model, inputs, FRICTION)
    for key, expected in unrolled.items():
        assert relative_error(found[key], expected, floor=1e-3) < (1e-12 if name == "idsva_so" else 1e-9), key


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["idsva_so", pytest.param("fdsva_so", marks=pytest.mark.slow)])
def test_compiled_loops_of_a_humanoid(name: str, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = HUMANOIDS["humanoid29"].model()
    inputs = inputs_of(name, random_inputs(model, 5, 21))
    inputs = {key: value.astype(dtype).astype(float) for key, value in inputs.items()}
    algorithm = algorithms()[name]
    assert any(isinstance(a, Loop) for a in trace_algorithm(algorithm, model, algorithms()).actions)
    unit = compile_algorithm(find_compiler(), algorithm, tmp_path, model=model, algorithms=algorithms(), dtype=dtype)
    found = unit(name, inputs, 21)
    monkeypatch.setattr(looped, "MANY", 10**9)
    for key, expected in evaluate(trace_algorithm(algorithm, model, algorithms()), inputs).items():
        tolerance = 5e-4 if dtype == "float32" else 1e-12 if name == "idsva_so" else 1e-9
        assert np.abs(found[key] - expected).max() <= tolerance * np.abs(expected).max(), key
