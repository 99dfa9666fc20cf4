"""URDF text to plain data: hardened XML, sanitised elements, then urdf-parser-py for the structure."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from grid_core.model.description import Description, InertialElement, JointElement, LinkElement, MimicElement, Vector
from grid_core.model.findings import Finding, Level
from grid_core.model.sanitise import MOMENTS, Clean, sanitise
from grid_core.model.xml_source import Source, parse

STANDARD_TYPES = frozenset({"revolute", "continuous", "prismatic", "floating", "planar", "fixed"})
"""Joint types that urdf-parser-py accepts; others travel beside it."""


def read_elements(source: Source) -> Clean:
    """Read the elements of a description tolerantly: unknown ones are left out, missing values take the defaults.

    Returns
    -------
    Clean
        With findings: an error is what cannot be read, such as numbers, missing names or repeated elements.

    Raises
    ------
    URDFParseError
        The text is no XML, or no URDF at all.
    """
    clean = sanitise(parse(source))
    for link in clean.root.iterfind("link"):
        _complete_inertial(link, clean)
    for joint in clean.root.iterfind("joint"):
        _complete_joint(joint, clean)
    if not clean.root.get("name", "").strip():
        clean.findings.append(
            Finding(Level.WARNING, "robot", 'has no name, "robot" is used; add name="..."', clean.lines[clean.root])
        )
        clean.root.set("name", "robot")
    return clean


def _complete_inertial(link: Element, clean: Clean) -> None:
    """Give an inertial element the parts that a strict reader demands, and say so."""
    inertial = link.find("inertial")
    if inertial is None:
        return
    missing = []
    if inertial.find("mass") is None:
        missing.append("mass")
        SubElement(inertial, "mass", value="0")
    inertia = inertial.find("inertia")
    if inertia is None:
        missing.append("inertia")
        inertia = SubElement(inertial, "inertia")
    else:
        missing += [key for key in ("ixy", "ixz", "iyz") if key not in inertia.attrib]
    for key in MOMENTS:
        inertia.attrib.setdefault(key, "0")
    if missing:
        message = f"<inertial> has no {', '.join(missing)}; zero is used, write the value if that is not meant"
        clean.findings.append(Finding(Level.WARNING, f"link {link.get('name', '')!r}", message, clean.lines[inertial]))


def _complete_joint(joint: Element, clean: Clean) -> None:
    item, line = f"joint {joint.get('name', '')!r}", clean.lines[joint]
    for name in ("parent", "child"):
        if joint.find(name) is None:
            message = f'has no <{name}>; a joint connects two links, add <{name} link="..."/>'
            clean.findings.append(Finding(Level.ERROR, item, message, line))
    axis = joint.find("axis")
    if axis is not None and "xyz" not in axis.attrib:
        clean.findings.append(
            Finding(Level.WARNING, item, "<axis> has no xyz; 1 0 0 is used, write it", clean.lines[axis])
        )
        axis.set("xyz", "1 0 0")
    _complete_limit(joint, clean, item)


def _complete_limit(joint: Element, clean: Clean, item: str) -> None:
    """Missing limits are infinite; one missing bound of a pair is 0 as the format says."""
    kind = joint.get("type")
    limit = joint.find("limit")
    if limit is None:
        limit = SubElement(joint, "limit")
        clean.lines[limit] = clean.lines[joint]
    bounded = kind in ("revolute", "prismatic")
    if kind == "continuous":
        limit.attrib.pop("lower", None)
        limit.attrib.pop("upper", None)
    missing = [name for name in ("velocity", "effort") if name not in limit.attrib]
    if "lower" not in limit.attrib and "upper" not in limit.attrib:
        missing = ["lower", "upper", *missing] if bounded else missing
        limit.attrib.update(lower="-inf", upper="inf")
    for name, default in (("lower", "0"), ("upper", "0"), ("velocity", "inf"), ("effort", "inf")):
        limit.attrib.setdefault(name, default)
    if missing and bounded:
        message = f"has no limit {', '.join(missing)}; infinity is used, write <limit .../> if there is a limit"
        clean.findings.append(Finding(Level.WARNING, item, message, clean.lines[limit]))


def describe(clean: Clean) -> Description:
    """Hand elements without errors to urdf-parser-py and join its objects with what it has no place for."""
    links, joints = clean.root.findall("link"), clean.root.findall("joint")
    types = [joint.get("type", "") for joint in joints]
    pitches = [_take_pitch(joint) for joint in joints]
    for joint, kind in zip(joints, types, strict=True):
        joint.set("type", kind if kind in STANDARD_TYPES else "unknown")
    robot = _strictly_parsed(clean.root)
    return Description(
        robot.name,
        tuple(_link(link, element, clean) for link, element in zip(robot.links, links, strict=True)),
        tuple(
            _joint(joint, element, clean, kind, pitch)
            for joint, element, kind, pitch in zip(robot.joints, joints, types, pitches, strict=True)
        ),
    )


def _take_pitch(joint: Element) -> float:
    axis = joint.find("axis")
    return 0.0 if axis is None else float(axis.attrib.pop("pitch", "0"))


def _strictly_parsed(root: Element) -> Any:
    from urdf_parser_py.urdf import Robot

    root.attrib.pop("version", None)
    return Robot.from_xml_string(tostring(root))


def _link(link: Any, element: Element, clean: Clean) -> LinkElement:
    inertial = element.find("inertial")
    return LinkElement(
        link.name, clean.lines[element], None if inertial is None else _inertial(link.inertial, clean.lines[inertial])
    )


def _inertial(inertial: Any, line: int) -> InertialElement:
    xyz, rpy = _pose(inertial.origin)
    ixx, ixy, ixz, iyy, iyz, izz = (getattr(inertial.inertia, key) for key in MOMENTS)
    return InertialElement(inertial.mass, xyz, rpy, (ixx, ixy, ixz, iyy, iyz, izz), line)


def _joint(joint: Any, element: Element, clean: Clean, kind: str, pitch: float) -> JointElement:
    xyz, rpy = _pose(joint.origin)
    dynamics = joint.dynamics
    mimic = element.find("mimic")
    return JointElement(
        name=joint.name,
        type=kind,
        line=clean.lines[element],
        parent=joint.parent,
        child=joint.child,
        xyz=xyz,
        rpy=rpy,
        axis=(1.0, 0.0, 0.0) if joint.axis is None else _vector(joint.axis),
        pitch=pitch,
        lower=joint.limit.lower,
        upper=joint.limit.upper,
        velocity=joint.limit.velocity,
        effort=joint.limit.effort,
        damping=0.0 if dynamics is None else dynamics.damping or 0.0,
        friction=0.0 if dynamics is None else dynamics.friction or 0.0,
        mimic=None if mimic is None else _mimic(joint.mimic, clean.lines[mimic]),
    )


def _mimic(mimic: Any, line: int) -> MimicElement:
    multiplier = 1.0 if mimic.multiplier is None else mimic.multiplier
    return MimicElement(mimic.joint, multiplier, mimic.offset or 0.0, line)


def _pose(origin: Any) -> tuple[Vector, Vector]:
    if origin is None:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return _vector(origin.xyz), _vector(origin.rpy)


def _vector(values: Any) -> Vector:
    x, y, z = map(float, values)
    return (x, y, z)
