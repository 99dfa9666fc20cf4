"""Derivatives of the regressor written out and by loops are the same; loops keep large kernels small."""

from __future__ import annotations

import pytest

from grid_core.codegen.render import render_kernel
from grid_core.kernel import trace_algorithm
from grid_plugins.centroidal import regressor, regressor_gradient
from tests.oracle.evaluation import Reference, algorithms, inputs_of, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, HUMANOIDS, MIXED, TREES

NAME = "inverse_dynamics_regressor_gradient"
ROBOTS = {**GOLDEN, **MIXED, "mimic chains": TREES["mimic chains"]}


@pytest.mark.parametrize("robot", [name for name in ROBOTS if name != "go2"])
def test_written_out_or_looped(robot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ROBOTS[robot].model()
    inputs = inputs_of(NAME, random_inputs(model, 8, 3))
    found = []
    for limit in (0, 10**6):
        monkeypatch.setattr(regressor_gradient, "WRITTEN_OUT", limit)
        found.append(Reference(model)(NAME, **inputs))
    for field in ("dq", "dqd"):
        assert relative_error(found[0][field], found[1][field], floor=1e-3) < 1e-12


def test_a_humanoid_is_a_few_thousand_statements() -> None:
    model = HUMANOIDS["humanoid29"].model()
    rendered = render_kernel(trace_algorithm(algorithms()[NAME], model, algorithms()))
    assert sum(function.operations for function in rendered.functions) < 10000
    assert max(function.operations for function in rendered.functions) < 3000
    for kept in rendered.layouts:
        assert kept.size < 0.2 * kept.argument.size, "zeros take no memory"


@pytest.mark.parametrize("robot", ["panda", "mixed fixed", "mixed floating"])
def test_parameter_gradient_written_out_or_looped(robot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, model = "forward_dynamics_parameter_gradient", ROBOTS[robot].model()
    inputs = inputs_of(name, random_inputs(model, 9, 3))
    found = []
    for limit in (0, 10**6):
        monkeypatch.setattr(regressor, "WRITTEN_OUT", limit)
        found.append(Reference(model)(name, **inputs))
    assert relative_error(*found) < 1e-12
