"""Random robots with every joint type, as URDF text: fixed ones for named cases, drawn ones for property tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

SCALAR = ("revolute", "continuous", "prismatic", "helical")
WIDE = ("planar", "spherical", "floating")
KINDS = (*SCALAR, *WIDE, "fixed")


@dataclass(frozen=True)
class Node:
    """A link and the joint that carries it; node ``k`` may hang on any node before it, -1 is the base link.

    ``follows`` is (node, multiplier, offset) of a mimic joint. ``aligned`` joints have unit axes and quarter turns, the
    others dense rotations. A ``light`` link has no mass.
    """

    kind: str
    parent: int
    follows: tuple[int, float, float] | None = None
    aligned: bool = False
    light: bool = False


def chain(*kinds: str, aligned: bool = False) -> tuple[Node, ...]:
    return tuple(Node(kind, k - 1, aligned=aligned) for k, kind in enumerate(kinds))


def describe(nodes: Sequence[Node], seed: int) -> str:
    """Return the description of a tree whose numbers follow from ``seed``."""
    generator = np.random.default_rng(seed)
    parts = [_link("base", generator, light=False)]
    for k, node in enumerate(nodes):
        parts += [_link(f"l{k:02}", generator, light=node.light), _joint(k, node, generator)]
    return '<robot name="tree">\n' + "\n".join(parts) + "\n</robot>"


def _words(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


def _link(name: str, generator: np.random.Generator, *, light: bool) -> str:
    a, b, c = generator.uniform(0.01, 0.1, 3).tolist()  # squared half-axes of an ellipsoid: always a valid inertia
    inertial = (
        f'<inertial><origin xyz="{_words(0.2 * generator.normal(size=3))}" rpy="{_words(generator.normal(size=3))}"/>'
        f'<mass value="{generator.uniform(0.3, 4.0)!r}"/>'
        f'<inertia ixx="{b + c!r}" iyy="{a + c!r}" izz="{a + b!r}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    return f'<link name="{name}">{"" if light else inertial}</link>'


def _joint(k: int, node: Node, generator: np.random.Generator) -> str:
    axis: Any = generator.normal(size=3)
    turn: Any = generator.normal(size=3)
    if node.aligned:
        axis = float(generator.choice([-1.0, 1.0])) * np.eye(3)[generator.integers(3)]
        turn = 0.5 * np.pi * generator.integers(-1, 3, 3)
    pitch = f' pitch="{generator.uniform(-0.3, 0.3)!r}"' if node.kind == "helical" else ""
    axis_element = (
        "" if node.kind in ("spherical", "floating") else f'<axis xyz="{_words(axis / np.linalg.norm(axis))}"{pitch}/>'
    )
    parent = f"l{node.parent:02}" if node.parent >= 0 else "base"
    mimic = ""
    if node.follows is not None:
        target, multiplier, offset = node.follows
        mimic = f'<mimic joint="j{target:02}" multiplier="{multiplier!r}" offset="{offset!r}"/>'
    damping, friction = generator.uniform(0.0, 1.0, 2).tolist()
    return (
        f'<joint name="j{k:02}" type="{node.kind}"><parent link="{parent}"/><child link="l{k:02}"/>'
        f'<origin xyz="{_words(0.4 * generator.normal(size=3))}" rpy="{_words(turn)}"/>{axis_element}{mimic}'
        f'<dynamics damping="{damping!r}" friction="{friction!r}"/>'
        '<limit lower="-2" upper="2" velocity="3" effort="50"/></joint>'
    )


@st.composite
def trees(draw: st.DrawFn, most: int = 7) -> str:
    """Draw a description with up to ``most`` joints of which at most two have several degrees of freedom."""
    nodes: list[Node] = []
    for k in range(draw(st.integers(1, most))):
        wide = sum(node.kind in WIDE for node in nodes)
        kind = draw(st.sampled_from(KINDS if wide < 2 else (*SCALAR, "fixed")))
        parent = draw(st.one_of(st.just(k - 1), st.integers(-1, k - 1)))
        follows = None
        targets = [j for j, node in enumerate(nodes) if node.kind in SCALAR]
        if kind in SCALAR and targets and draw(st.integers(0, 3)) == 0:
            multiplier = draw(st.sampled_from([1.0, -1.0, 0.5, -1.7, 2.0]))
            follows = (draw(st.sampled_from(targets)), multiplier, draw(st.sampled_from([0.0, 0.3, -0.2])))
        nodes.append(Node(kind, parent, follows, aligned=draw(st.booleans())))
    if all(node.kind == "fixed" for node in nodes):
        nodes.append(Node("revolute", -1))
    if draw(st.booleans()):
        nodes = _lightened(nodes)
    return describe(nodes, draw(st.integers(0, 2**32 - 1)))


def _lightened(nodes: list[Node]) -> list[Node]:
    """Take the mass of the first link that a description may leave without: its child shows every motion of it."""
    for k, node in enumerate(nodes):
        shown = any(child.parent == k and child.kind in SCALAR and not child.follows for child in nodes)
        skew = not any(child.parent == k and child.aligned for child in nodes)
        if node.kind in SCALAR and not node.follows and shown and skew:
            return [*nodes[:k], replace(node, light=True), *nodes[k + 1 :]]
    return nodes
