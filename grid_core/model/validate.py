"""The second pass: every rule that a description has to meet before it becomes a model."""

from __future__ import annotations

import math
from collections.abc import Iterator

from grid_core.errors import UnsupportedJointTypeError, nearest
from grid_core.model.description import Description, InertialElement, JointElement, LinkElement
from grid_core.model.findings import Finding, Level
from grid_core.model.mimic import SCALAR_TYPES
from grid_core.model.physical import NOISE_RADIUS, TRIANGLE, beyond_triangle
from grid_core.model.topology import check_names, check_tree

JOINT_TYPES = (
    *("fixed", "revolute", "continuous", "prismatic", "helical", "screw"),
    *("spherical", "ball", "planar", "translation", "floating"),
)
"""Every joint type that a model can represent; the format's own and the usual extensions."""

WITH_AXIS = frozenset({"revolute", "continuous", "prismatic", "helical", "screw", "planar"})

AXIS_TOLERANCE = 1e-6


def check(description: Description) -> list[Finding]:
    """Every finding on names, topology, joints and inertias; topology is judged once names are in order."""
    findings = list(check_names(description))
    if not findings:
        findings += check_tree(description)
    for joint in description.joints:
        findings += _check_joint(joint)
    for link in description.links:
        findings += _check_link(link)
    return findings


def _check_joint(joint: JointElement) -> Iterator[Finding]:
    if joint.type not in JOINT_TYPES:
        known = ", ".join(JOINT_TYPES)
        message = f"type {joint.type!r} is not known{nearest(joint.type, JOINT_TYPES)}; use one of {known}"
        yield Finding(Level.ERROR, joint.item, message, joint.line, UnsupportedJointTypeError)
    if joint.type in WITH_AXIS:
        yield from _check_axis(joint)
    if joint.type not in (*SCALAR_TYPES, "fixed"):
        yield from _check_no_limits(joint)
    if joint.lower > joint.upper:
        message = f"lower limit {joint.lower!r} is above upper limit {joint.upper!r}; exchange or correct them"
        yield Finding(Level.ERROR, joint.item, message, joint.line)
    for name in ("damping", "friction", "velocity", "effort"):
        value = getattr(joint, name)
        if value < 0.0:
            message = f"{name} is negative ({{value}}); it is used as written"
            yield Finding(Level.WARNING, joint.item, message, joint.line, value=repr(value))


def _check_axis(joint: JointElement) -> Iterator[Finding]:
    length = math.hypot(*joint.axis)
    shown = " ".join(f"{value:g}" for value in joint.axis)
    if length == 0.0:
        message = f'axis "{shown}" has no direction; a {joint.type} joint needs one, for example <axis xyz="0 0 1"/>'
        yield Finding(Level.ERROR, joint.item, message, joint.line)
    elif abs(length - 1.0) > AXIS_TOLERANCE:
        message = "axis {value} and is normalised; write a unit vector"
        yield Finding(Level.WARNING, joint.item, message, joint.line, value=f'"{shown}" has length {length:g}')


def _check_no_limits(joint: JointElement) -> Iterator[Finding]:
    limits = (joint.lower, joint.upper, joint.velocity, joint.effort)
    if not all(map(math.isinf, limits)):
        message = f"<limit> has no meaning for type {joint.type!r} and is ignored; remove it"
        yield Finding(Level.WARNING, joint.item, message, joint.line)


def _check_link(link: LinkElement) -> Iterator[Finding]:
    inertial = link.inertial
    if inertial is None:
        yield Finding(Level.NOTE, link.item, "has no <inertial>: a frame without mass", link.line)
        return
    if inertial.mass < 0.0:
        message = f"mass must not be negative, got {inertial.mass!r}; correct <mass>"
        yield Finding(Level.ERROR, link.item, message, inertial.line)
    yield from _check_moments(link, inertial)


def _check_moments(link: LinkElement, inertial: InertialElement) -> Iterator[Finding]:
    """No rigid body has a negative moment; a principal moment above the sum of the other two is suspicious only.

    Products that make a principal moment negative break the triangle inequality, too; published robots do that.
    """
    ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
    noise = NOISE_RADIUS**2 * abs(inertial.mass)
    for name, value in (("ixx", ixx), ("iyy", iyy), ("izz", izz)):
        if value < -noise:
            message = f"{name} must not be negative, got {value!r}; correct <inertia>"
            yield Finding(Level.ERROR, link.item, message, inertial.line)
    if min(ixx, iyy, izz) < -noise:
        return
    moments = beyond_triangle([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]], noise)
    if moments is not None:
        message = f"principal moments {{value}} {TRIANGLE}; check <inertia>"
        shown = ", ".join(f"{value:.6g}" for value in moments)
        yield Finding(Level.WARNING, link.item, message, inertial.line, value=shown)
