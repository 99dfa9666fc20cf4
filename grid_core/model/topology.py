"""The graph of links and joints: it must be one tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from grid_core.errors import nearest
from grid_core.model.description import Description, JointElement, LinkElement
from grid_core.model.findings import Finding, Level, listed

WORLD = "world"
"""A root link of this name without inertia stands for the world, not for a part of the robot."""


def check_names(description: Description) -> Iterator[Finding]:
    """Links and joints have names, each its own, and every joint connects two links that exist."""
    yield from _nameless([*description.links, *description.joints])
    yield from _duplicates(description.links)
    yield from _duplicates(description.joints)
    links = {link.name for link in description.links}
    if not links:
        yield Finding(Level.ERROR, f"robot {description.name!r}", "has no links; a robot has at least one <link>")
    for joint in description.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                message = f"{role} link {name!r} does not exist{nearest(name, links)}; correct the name or add the link"
                yield Finding(Level.ERROR, joint.item, message, joint.line)


def _nameless(elements: Sequence[LinkElement | JointElement]) -> Iterator[Finding]:
    for element in elements:
        if not element.name.strip():
            yield Finding(Level.ERROR, element.item, 'the name is empty; write name="..." with a name', element.line)


def _duplicates(elements: Sequence[LinkElement] | Sequence[JointElement]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for element in elements:
        if element.name in first:
            message = f"the name is used twice, on lines {first[element.name]} and {element.line}; rename one"
            yield Finding(Level.ERROR, element.item, message, element.line)
        first.setdefault(element.name, element.line)


def check_tree(description: Description) -> Iterator[Finding]:
    """Every link but one, the root, is the child of exactly one joint, and all are reached from the root.

    Parameters
    ----------
    description : Description
        With valid names (:func:`check_names`).
    """
    incoming: dict[str, list[JointElement]] = {link.name: [] for link in description.links}
    for joint in description.joints:
        incoming[joint.child].append(joint)
    for link, joints in incoming.items():
        if len(joints) > 1:
            yield _two_parents(link, joints, incoming)
    for cycle in _cycles(incoming):
        message = (
            f"the links form a cycle: {' -> '.join([*cycle, cycle[0]])}; a robot is a tree, remove one of these joints"
        )
        yield Finding(Level.ERROR, incoming[cycle[0]][0].item, message, incoming[cycle[0]][0].line)
    roots = [link.name for link in description.links if not incoming[link.name]]
    if len(roots) > 1:
        names = listed([repr(root) for root in roots])
        message = (
            f"has {len(roots)} root links: {names}; a robot is one tree, connect them with joints (type fixed if rigid)"
        )
        yield Finding(Level.ERROR, f"robot {description.name!r}", message)


def _two_parents(link: str, joints: Sequence[JointElement], incoming: dict[str, list[JointElement]]) -> Finding:
    parents = " and ".join(f"joint {joint.name!r} (line {joint.line})" for joint in joints)
    loop = _loop([_way_up(joint.parent, incoming) for joint in joints[:2]], link)
    message = f"is the child of {parents}{loop}; a robot is a tree, remove a joint or end the loop in a link of its own"
    return Finding(Level.ERROR, f"link {link!r}", message, joints[-1].line)


def _way_up(link: str, incoming: dict[str, list[JointElement]]) -> list[str]:
    """Links from ``link`` towards the root along the first joint of each."""
    way = [link]
    seen = {link}
    while incoming[way[-1]]:
        above = incoming[way[-1]][0].parent
        if above in seen:
            break
        seen.add(above)
        way.append(above)
    return way


def _loop(ways: Sequence[list[str]], link: str) -> str:
    """The closed way from ``link`` up one side and down the other, or nothing where the sides do not meet."""
    left, right = ways
    shared = next((name for name in left if name in set(right)), None)
    if shared is None:
        return ""
    down = right[: right.index(shared)]
    return f", which closes the loop {' - '.join([link, *left[: left.index(shared) + 1], *reversed(down), link])}"


def _cycles(incoming: dict[str, list[JointElement]]) -> Iterator[list[str]]:
    """Directed cycles along first parents, each listed once from parent to child."""
    done: set[str] = set()
    for start in incoming:
        way: list[str] = []
        position: dict[str, int] = {}
        link: str | None = start
        while link is not None and link not in done and link not in position:
            position[link] = len(way)
            way.append(link)
            link = incoming[link][0].parent if incoming[link] else None
        if link is not None and link in position:
            first, *above = way[position[link] :]
            yield [first, *reversed(above)]
        done.update(way)


def root_link(description: Description) -> str:
    """The link that is no joint's child, in a description that passed :func:`check_tree`."""
    children = Counter(joint.child for joint in description.joints)
    return next(link.name for link in description.links if link.name not in children)


def joints_to_world(description: Description) -> list[JointElement] | None:
    """The joints under an explicit world, a root link of that name without inertia; None without one."""
    root = root_link(description)
    if root != WORLD or any(link.inertial is not None for link in description.links if link.name == root):
        return None
    return [joint for joint in description.joints if joint.parent == root]


def check_free_base(description: Description) -> Iterator[Finding]:
    """A robot whose base is freed hangs on an explicit world by one joint that gives way."""
    below = joints_to_world(description)
    if below is None or (len(below) == 1 and below[0].type in ("fixed", "floating")):
        return
    found = listed([f"{joint.name!r} ({joint.type})" for joint in below]) or "none"
    message = (
        "floating_base=True frees the link under the root link 'world', which takes exactly one joint of type fixed or "
        f"floating there, found {found}; load with floating_base=False or put a base link in between"
    )
    yield Finding(Level.ERROR, f"robot {description.name!r}", message)


def sorted_children(joints: Iterable[JointElement]) -> dict[str, list[JointElement]]:
    """Joints by parent link, sorted by child link name, then joint name: the order contract of a model."""
    children: dict[str, list[JointElement]] = {}
    for joint in sorted(joints, key=lambda joint: (joint.child, joint.name)):
        children.setdefault(joint.parent, []).append(joint)
    return children
