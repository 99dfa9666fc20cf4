"""Mimic relations: chains flattened to one independent joint each, or to a constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grid_core.errors import MimicResolutionError, nearest
from grid_core.model.description import MAGNITUDE, Description, JointElement
from grid_core.model.findings import Finding, Level

SCALAR_TYPES = frozenset({"revolute", "continuous", "prismatic", "helical", "screw"})
"""Joint types with one coordinate: what can follow and be followed."""


@dataclass(frozen=True)
class Follower:
    """``value = multiplier * value(target) + offset``; without a target the joint stands still at ``offset``.

    The value of a continuous joint is its plain angle, not wrapped, so that a follower turns on without a jump.
    """

    target: str | None
    multiplier: float
    offset: float


def resolve(description: Description) -> tuple[dict[str, Follower], list[Finding]]:
    """Flatten every mimic relation.

    Parameters
    ----------
    description : Description
        With unique joint names.

    Returns
    -------
    dict
        Joint name to what it follows: an independent joint, or nothing if the chain ends at a fixed joint.
    list of Finding
        Unknown targets, cycles, and joints of a type that cannot take part.
    """
    joints = {joint.name: joint for joint in description.joints}
    followers: dict[str, Follower] = {}
    findings: list[Finding] = []
    for joint in description.joints:
        if joint.mimic is None:
            continue
        if joint.type == "fixed":
            message = "is fixed, so that its mimic of {value} does nothing; remove <mimic>"
            findings.append(
                Finding(Level.WARNING, joint.item, message, joint.mimic.line, value=repr(joint.mimic.joint))
            )
            continue
        try:
            followers[joint.name] = _follow(joint, joints)
        except MimicResolutionError as error:
            findings.append(Finding(Level.ERROR, joint.item, str(error), joint.mimic.line, MimicResolutionError))
    findings.extend(_notes(description, followers))
    return followers, findings


def _follow(joint: JointElement, joints: Mapping[str, JointElement]) -> Follower:
    """Walk the chain from a joint to the independent one at its end."""
    path = [joint.name]
    multiplier, offset = 1.0, 0.0
    while joint.mimic is not None and joint.type != "fixed":
        _check_type(joint)
        offset += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        target = joints.get(joint.mimic.joint)
        if target is None:
            raise MimicResolutionError(
                f"mimics joint {joint.mimic.joint!r}, which does not exist{nearest(joint.mimic.joint, joints)}; "
                "correct the name"
            )
        if target.name in path:
            cycle = " -> ".join([*path[path.index(target.name) :], target.name])
            raise MimicResolutionError(
                f"mimics itself: {cycle}; one joint of the cycle must be independent, remove its <mimic>"
            )
        path.append(target.name)
        joint = target
    if max(abs(multiplier), abs(offset)) > MAGNITUDE:
        raise MimicResolutionError(
            f"follows {joint.name!r} along its chain with multiplier {multiplier:g} and offset {offset:g}, beyond "
            f"{MAGNITUDE:g}, the most that a number may be; correct <mimic>"
        )
    if joint.type == "fixed" or multiplier == 0.0:
        return Follower(None, 0.0, offset)
    _check_type(joint)
    return Follower(joint.name, multiplier, offset)


def _check_type(joint: JointElement) -> None:
    if joint.type not in SCALAR_TYPES:
        raise MimicResolutionError(
            f"takes part in a mimic with joint {joint.name!r} of type {joint.type!r}; only joints with one coordinate "
            f"can: {', '.join(sorted(SCALAR_TYPES))}"
        )


def _notes(description: Description, followers: Mapping[str, Follower]) -> Iterator[Finding]:
    for joint in description.joints:
        follower = followers.get(joint.name)
        if follower is not None and follower.target is None and joint.mimic is not None:
            message = "follows no moving joint and is held at {value}; make it fixed if that is meant"
            yield Finding(Level.WARNING, joint.item, message, joint.mimic.line, value=repr(follower.offset))
