"""Operations per sample, a guard: whoever changes them does so on purpose. Fewer is a reason to lower the table."""

from __future__ import annotations

import pytest

from grid_core.kernel import trace_algorithm
from grid_core.kernel.builder import variants
from tests.grid_plugins.centroidal.outputs import NAMES
from tests.oracle.evaluation import algorithms
from tests.oracle.robots import GOLDEN, HUMANOIDS

ROBOTS = ("iiwa14", "panda", "go2", "humanoid29")
TABLE = {
    "com": (173, 266, 541, 1095),
    "ccrba": (636, 925, 1746, 3910),
    "cmm_time_variation": (1329, 1896, 3573, 8226),
    "dccrba": (1736, 3060, 5605, 18499),
    "energy": (253, 440, 846, 1493),
    "kinetic_energy_regressor": (221, 314, 538, 1330),
    "potential_energy_regressor": (89, 112, 212, 458),
    "inverse_dynamics_regressor": (1552, 2423, 3460, 14640),
    "forward_dynamics_parameter_gradient": (4365, 6706, 23967, 164312),
    "inverse_dynamics_regressor_gradient": (17744, 59417, 153819, 745127),
    "f_ext_gradient": (1533, 2789, 7958, 39138),
    "f_ext_gradient_dq": (704, 1450, 604, 9437),
}
"""On each robot, of the leanest variant: no wrenches."""

TOLERANCE = 1.02


def test_the_table_is_complete() -> None:
    assert list(TABLE) == NAMES


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", TABLE)
def test_no_more_operations_than_before(name: str, robot: str) -> None:
    algorithm, model = algorithms()[name], (GOLDEN | HUMANOIDS)[robot].model()
    kernel = trace_algorithm(algorithm, model, algorithms(), absent=variants(algorithm)[-1])
    assert sum(kernel.operations().values()) <= TOLERANCE * TABLE[name][ROBOTS.index(robot)]
