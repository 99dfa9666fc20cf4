"""Random trees: the order contract holds whatever the document's order, and Pinocchio sees the same robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid_core.model import Model, Placement

pin = pytest.importorskip("pinocchio")

KINDS = ("fixed", "revolute", "prismatic", "continuous")
PINOCCHIO_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


@dataclass(frozen=True)
class Drawn:
    """Elements of a random description; joint ``k`` carries link ``k + 1``, so that both names sort alike."""

    links: tuple[str, ...]
    joints: tuple[str, ...]

    def text(self, order: list[int]) -> str:
        elements = [*self.links, *self.joints]
        return '<robot name="drawn">' + "".join(elements[k % len(elements)] for k in order) + "</robot>"


def words(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


def link(name: str, generator: np.random.Generator) -> str:
    a, b, c = generator.uniform(0.1, 1.0, 3).tolist()  # squared half-axes of an ellipsoid: always a valid inertia
    return (
        f'<link name="{name}"><inertial><origin xyz="{words(generator.normal(size=3))}" '
        f'rpy="{words(generator.normal(size=3))}"/><mass value="{generator.uniform(0.1, 5)!r}"/>'
        f'<inertia ixx="{b + c!r}" iyy="{a + c!r}" izz="{a + b!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(name: str, kind: str, parent: str, child: str, generator: np.random.Generator) -> str:
    axis = generator.normal(size=3)
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{words(generator.normal(size=3))}" rpy="{words(generator.normal(size=3))}"/>'
        f'<axis xyz="{words(axis / np.linalg.norm(axis))}"/>'
        '<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>'
    )


@st.composite
def robots(draw: st.DrawFn) -> Drawn:
    count = draw(st.integers(1, 8))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    names = draw(st.permutations([f"b{k}" for k in range(count)]))
    joints = []
    for k, name in enumerate(names):
        parent = draw(st.sampled_from(["root", *names[:k]]))
        joints.append(joint(f"j_{name}", draw(st.sampled_from(KINDS)), parent, name, generator))
    return Drawn(tuple(link(name, generator) for name in ("root", *names)), tuple(joints))


@given(drawn=robots(), shuffle=st.randoms(use_true_random=False), free=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_tree_against_pinocchio(
    drawn: Drawn,
    shuffle: Any,
    free: bool,
    quiet_load: Callable[..., Model],
    world_placements: Callable[[Model, Any], dict[str, Placement]],
) -> None:
    order = list(range(len(drawn.links) + len(drawn.joints)))
    text = drawn.text(order)
    shuffle.shuffle(order)
    model = quiet_load(text, floating_base=free)
    assert quiet_load(drawn.text(order), floating_base=free).to_json() == model.to_json()

    other = pin.buildModelFromXML(text, *([pin.JointModelFreeFlyer()] if free else []))
    assert list(model.joint_names)[free:] == list(other.names)[1 + free :]
    theirs = [other.inertias[1 + i].toDynamicParameters()[PINOCCHIO_ORDER] for i in range(model.nb)]
    np.testing.assert_allclose(model.inertia_parameters, np.reshape(theirs, (model.nb, 10)), rtol=0, atol=1e-12)

    data = other.createData()
    q = model.random(0, 1)[0]
    there = [
        part
        for m in model.joints
        for part in ([np.cos(q[m.q_index]), np.sin(q[m.q_index])] if m.kind == "continuous" else q[m.q_index :][: m.nq])
    ]
    pin.framesForwardKinematics(other, data, np.array(there))
    placed = world_placements(model, q)
    for frame in model.frames:
        if frame.kind == "link":
            their = data.oMf[other.getBodyId(frame.name)]
            np.testing.assert_allclose(placed[frame.name].rotation, their.rotation, rtol=0, atol=1e-12)
            np.testing.assert_allclose(placed[frame.name].translation, their.translation, rtol=0, atol=1e-12)
