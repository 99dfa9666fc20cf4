"""Operations per sample, a guard: whoever changes them does so on purpose. Fewer is a reason to lower the table."""

from __future__ import annotations

import pytest

from grid_core.kernel import trace_algorithm
from grid_core.kernel.builder import variants
from tests.oracle.evaluation import algorithms, dynamics
from tests.oracle.robots import GOLDEN, HUMANOIDS

TABLE = {
    "inverse_dynamics": {"iiwa14": 487, "panda": 748, "go2": 1502, "humanoid29": 2812},
    "nonlinear_effects": {"iiwa14": 462, "panda": 719, "go2": 1425, "humanoid29": 2732},
    "generalized_gravity": {"iiwa14": 98, "panda": 235, "go2": 314, "humanoid29": 578},
    "crba": {"iiwa14": 370, "panda": 709, "go2": 918, "humanoid29": 3640},
    "minv": {"iiwa14": 689, "panda": 1197, "go2": 3794, "humanoid29": 16769},
    "forward_dynamics": {"iiwa14": 1038, "panda": 1723, "go2": 3594, "humanoid29": 9068},
    "aba": {"iiwa14": 1290, "panda": 1723, "go2": 4035, "humanoid29": 9068},
    "inverse_dynamics_gradient": {"iiwa14": 4695, "panda": 6860, "go2": 8550, "humanoid29": 27880},
    "forward_dynamics_gradient": {"iiwa14": 6978, "panda": 10492, "go2": 19687, "humanoid29": 88437},
    "coriolis_matrix": {"iiwa14": 2525, "panda": 3730, "go2": 4614, "humanoid29": 14519},
}
"""Of the leanest variant: no wrenches, no joint dynamics."""

TOLERANCE = 1.02


def test_the_table_is_complete() -> None:
    assert list(TABLE) == dynamics()


@pytest.mark.parametrize("robot", ["iiwa14", "panda", "go2", "humanoid29"])
@pytest.mark.parametrize("name", TABLE)
def test_no_more_operations_than_before(name: str, robot: str) -> None:
    algorithm, model = algorithms()[name], (GOLDEN | HUMANOIDS)[robot].model()
    kernel = trace_algorithm(algorithm, model, algorithms(), absent=variants(algorithm)[-1])
    assert sum(kernel.operations().values()) <= TOLERANCE * TABLE[name][robot]
