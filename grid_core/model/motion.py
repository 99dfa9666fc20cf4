"""Rules on the finished model: every independent coordinate moves some mass, every name is used once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from grid_core.model.description import Description
from grid_core.model.findings import Finding, Level, listed
from grid_core.model.model import Body, Model


def check(model: Model, description: Description) -> Iterator[Finding]:
    """What merging and splitting bring to light."""
    lines = {joint.name: joint.line for joint in description.joints}
    for name, count in Counter(model.joint_names).items():
        if count > 1:
            message = "the name is taken by a joint that the loader adds; rename the joint of the description"
            yield Finding(Level.ERROR, f"joint {name!r}", message, lines.get(name))
    yield from _check_mass(model, lines)
    yield from _check_free_bodies(model, lines)


def _check_mass(model: Model, lines: dict[str, int]) -> Iterator[Finding]:
    """An independent joint moves mass, itself or through its followers; the topmost of several is named."""
    heavy = _carries_mass(model)
    moved = {joint.v_index: False for joint in model.joints}
    for i, joint in enumerate(model.joints):
        moved[joint.v_index] |= heavy[i]
    for i, joint in enumerate(model.joints):
        below_another = joint.parent >= 0 and not moved[model.joints[joint.parent].v_index]
        if joint.mimic is None and not moved[joint.v_index] and not below_another:
            links = [repr(link) for j in model.subtree(i) for link in model.bodies[j].links]
            message = (
                f"moves links without any mass ({listed(links)}), so that its acceleration is undefined; "
                'give one of them an <inertial>, or make the joint type="fixed"'
            )
            yield Finding(Level.ERROR, f"joint {joint.name!r}", message, lines.get(joint.name.partition("__sub")[0]))


def _check_free_bodies(model: Model, lines: dict[str, int]) -> Iterator[Finding]:
    """A free body without inertia that carries one joint only shares some of that joint's motions."""
    for i, joint in enumerate(model.joints):
        if joint.kind == "floating" and not _has_inertia(model.bodies[i]) and len(model.children(i)) == 1:
            links = listed([repr(link) for link in model.bodies[i].links])
            message = (
                f"frees links without any mass ({links}) that carry a single joint, so that their acceleration is "
                "undefined; give one of them an <inertial>"
            )
            yield Finding(Level.ERROR, f"joint {joint.name!r}", message, lines.get(joint.name))


def _carries_mass(model: Model) -> list[bool]:
    """Whether anything in the subtree of each body has mass or inertia."""
    heavy = [_has_inertia(body) for body in model.bodies]
    for i in reversed(range(model.nb)):
        parent = model.joints[i].parent
        if parent >= 0:
            heavy[parent] = heavy[parent] or heavy[i]
    return heavy


def _has_inertia(body: Body) -> bool:
    return body.mass > 0.0 or bool(body.inertia.any())
