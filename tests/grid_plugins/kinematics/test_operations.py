"""Operations per sample, a guard: whoever changes them does so on purpose. Fewer is a reason to lower the table."""

from __future__ import annotations

import pytest

from grid_core.kernel import trace_algorithm
from grid_core.kernel.builder import variants
from tests.oracle.evaluation import algorithms, family
from tests.oracle.poses import with_contacts
from tests.oracle.robots import GOLDEN, HUMANOIDS

ROBOTS = {name: (GOLDEN | HUMANOIDS)[name] for name in ("iiwa14", "panda", "go2", "humanoid29")}
TABLE: dict[str, tuple[tuple[int, ...], ...]] = {
    "end_effector_pose": ((135,), (176,), (360,), (855,)),
    "end_effector_pose_gradient": ((244,), (363,), (680,), (1565,)),
    "end_effector_pose_hessian": ((559,), (990,), (1938,), (5259,)),
    "fk_batched": ((182,), (210,), (164,), (260,)),
    "end_effector_placement": ((182,), (216,), (548,), (1077,)),
    "end_effector_jacobian": ((165,), (297,), (432,), (1213,)),
    "end_effector_log_pose": ((197,), (231,), (608,), (1137,)),
    "end_effector_log_pose_gradient": ((379,), (491,), (1200,), (2245,)),
    "frame_placements": ((466,), (561,), (1920,), (2442,)),
    "frame_transforms": ((145,), (195,), (872,), (1020,)),
    "end_effector_pose_runtime": ((277,), (341,), (570,), (1320,)),
    "end_effector_pose_gradient_runtime": ((423,), (499,), (916,), (2101,)),
    "frame_jacobian": ((596, 165), (687, 222), (1289, 135), (2848, 276)),
    "frame_jacobian_dot": ((1006, 374), (1126, 459), (2174, 321), (4780, 588)),
    "frame_motion": ((795, 532), (925, 593), (1728, 434), (3989, 764)),
    "osc_inertia": ((2027,), (2875,), (4015,), (8528,)),
    "contact_fext": ((256,), (276,), (280,), (458,)),
    "contact_fext_gradient": ((744,), (795,), (616,), (1160,)),
    "tool_fext": ((265,), (317,), (522,), (1134,)),
}
"""Per robot, of the fullest variant, and of the leanest where there are several."""

TOLERANCE = 1.02


def counts(name: str, robot: str) -> tuple[int, ...]:
    algorithm, model = algorithms()[name], ROBOTS[robot].model()
    found = []
    for absent in dict.fromkeys((variants(algorithm)[0], variants(algorithm)[-1])):
        kernel = trace_algorithm(algorithm, model, algorithms(), with_contacts(model), absent)
        found.append(sum(kernel.operations().values()))
    return tuple(found)


def test_the_table_is_complete() -> None:
    assert list(TABLE) == family("kinematics")


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", TABLE)
def test_no_more_operations_than_before(name: str, robot: str) -> None:
    allowed = dict(zip(ROBOTS, TABLE[name], strict=True))[robot]
    for count, most in zip(counts(name, robot), allowed, strict=True):
        assert count <= TOLERANCE * most
