"""The tolerant first pass over the elements: copy what the format knows, say what is left out, check every number.

The copy is clean enough for a strict reader: only known elements and attributes, each at most once, numbers that any
locale reads alike. Lines and the few values that the strict reader has no place for travel beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

from grid_core.errors import URDFParseError
from grid_core.model.description import MAGNITUDE
from grid_core.model.findings import Finding, Level, listed
from grid_core.model.xml_source import Document

XACRO_NAMESPACES = ("http://www.ros.org/wiki/xacro", "http://wiki.ros.org/xacro", "http://ros.org/wiki/xacro")
XACRO_EXPRESSION = re.compile(r"\$\{|\$\(")

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Kind:
    """How the text of an attribute is read: ``count`` numbers (0: a name) up to a size, infinite values allowed or not.

    Where infinite values are allowed, those beyond the size become infinite.
    """

    count: int = 0
    infinite: bool = False
    most: float = MAGNITUDE


NAME, SCALAR, BOUND, VECTOR, DIRECTION = Kind(), Kind(1), Kind(1, infinite=True), Kind(3), Kind(3, most=math.inf)


@dataclass(frozen=True)
class Schema:
    """What an element may hold.

    Parameters
    ----------
    attributes : mapping of str to Kind
        Known attributes.
    children : mapping of str to Schema
        Known elements.
    required : tuple of str
        Attributes without which the element means nothing.
    ignored : tuple of str
        Elements that say nothing about dynamics; left out without a word.
    """

    attributes: Mapping[str, Kind] = field(default_factory=dict)
    children: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


ORIGIN = Schema({"xyz": VECTOR, "rpy": VECTOR})
REFERENCE = Schema({"link": NAME}, required=("link",))
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
INERTIAL = Schema(
    children={
        "origin": ORIGIN,
        "mass": Schema({"value": SCALAR}, required=("value",)),
        "inertia": Schema(dict.fromkeys(MOMENTS, SCALAR), required=("ixx", "iyy", "izz")),
    }
)
LINK = Schema({"name": NAME}, {"inertial": INERTIAL}, required=("name",), ignored=("visual", "collision"))
JOINT = Schema(
    {"name": NAME, "type": NAME},
    {
        "origin": ORIGIN,
        "parent": REFERENCE,
        "child": REFERENCE,
        "axis": Schema({"xyz": DIRECTION, "pitch": SCALAR}),
        "limit": Schema(dict.fromkeys(("lower", "upper", "velocity", "effort"), BOUND)),
        "dynamics": Schema({"damping": SCALAR, "friction": SCALAR}),
        "mimic": Schema({"joint": NAME, "multiplier": SCALAR, "offset": SCALAR}, required=("joint",)),
    },
    required=("name", "type"),
    ignored=("calibration", "safety_controller"),
)
ROBOT = Schema(
    {"name": NAME, "version": NAME},
    {"link": LINK, "joint": JOINT},
    ignored=("material", "gazebo", "transmission", "ros2_control"),
)


@dataclass
class Clean:
    """The sanitised copy.

    Parameters
    ----------
    root : Element
        The clean document.
    lines : dict
        Line of every element of the copy.
    findings : list of Finding
        What was left out or could not be read.
    """

    root: Element
    lines: dict[Element, int]
    findings: list[Finding]


def sanitise(document: Document) -> Clean:
    """Copy the known part of a document and record everything else.

    Raises
    ------
    URDFParseError
        The document is no URDF at all: another root element, or macros that were never expanded.
    """
    _refuse_foreign(document)
    return _Copier(document).run()


def _refuse_foreign(document: Document) -> None:
    root, label = document.root, document.source.label
    for element in root.iter():
        names = [element.tag, *element.attrib] if isinstance(element.tag, str) else []
        macro = any(name.startswith(f"{{{space}}}") for name in names for space in XACRO_NAMESPACES)
        if macro or (names and any(XACRO_EXPRESSION.search(value) for value in element.attrib.values())):
            raise URDFParseError(
                f"{label}:{document.line(element)}: this is a xacro file, its macros must be expanded first; "
                "run `xacro robot.urdf.xacro > robot.urdf` (part of ROS) and load the result"
            )
    if _local(root.tag) != "robot":
        raise URDFParseError(
            f"{label}:{document.line(root)}: the root element is <{_local(root.tag)}>, a URDF starts with <robot>; "
            "SDF, MJCF and USD files are not read"
        )


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


class _Copier:
    """One pass over a document; keeps the unknown names together so that each is reported once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.namespace = document.root.tag.rpartition("}")[0] + "}" if "}" in document.root.tag else ""
        self.lines: dict[Element, int] = {}
        self.findings: list[Finding] = []
        self.unknown: dict[str, list[int]] = {}

    def run(self) -> Clean:
        root = self.copy(self.document.root, ROBOT, "robot")
        for what, lines in self.unknown.items():
            places = listed([str(line) for line in lines])
            message = f"is not part of the format and ignored (line {places}); remove it or check its spelling"
            self.findings.append(Finding(Level.WARNING, what, message, lines[0], rule=what))
        return Clean(root, self.lines, self.findings)

    def copy(self, element: Any, schema: Schema, item: str) -> Element:
        tag = _local(element.tag)
        clean = Element(tag)
        self.lines[clean] = line = self.document.line(element)
        self._copy_attributes(element, schema, item, clean)
        for name in schema.required:
            if name not in element.attrib:
                self._error(item, f'<{tag}> needs the attribute "{name}"; add it', line)
        for child, name in self._known_children(element, schema):
            inner = f"{name} {child.get('name', '')!r}" if tag == "robot" else item
            if tag != "robot" and clean.find(name) is not None:
                self._error(item, f"<{name}> appears twice in <{tag}>; keep one", self.document.line(child))
                continue
            clean.append(self.copy(child, schema.children[name], inner))
        return clean

    def _known_children(self, element: Any, schema: Schema) -> Iterator[tuple[Any, str]]:
        for child in element.iterchildren(tag="*"):
            name = child.tag.removeprefix(self.namespace)
            if name in schema.children:
                yield child, name
            elif name not in schema.ignored:
                self._unknown(f"element <{_shown(child)}> in <{_local(element.tag)}>", child)

    def _copy_attributes(self, element: Any, schema: Schema, item: str, clean: Element) -> None:
        for name, text in element.attrib.items():
            kind = schema.attributes.get(name)
            if kind is None:
                if not name.startswith("{http://www.w3.org/"):
                    self._unknown(f'attribute "{_local(name)}" of <{_local(element.tag)}>', element)
            elif kind.count == 0:
                clean.set(name, text)
            elif problem := number_problem(text, kind):
                self._error(item, f'<{clean.tag} {name}="{text}">: {problem}', self.lines[clean])
                clean.set(name, " ".join("0" * kind.count))
            elif kind.infinite and kind.most < abs(float(text)) < math.inf:
                message = f"{name} limit {{value}} is beyond {kind.most:g}; infinity is used, write inf or leave it out"
                self.findings.append(Finding(Level.WARNING, item, message, self.lines[clean], value=text.strip()))
                clean.set(name, str(math.copysign(math.inf, float(text))))
            else:
                clean.set(name, text)

    def _unknown(self, what: str, element: Any) -> None:
        self.unknown.setdefault(what, []).append(self.document.line(element))

    def _error(self, item: str, message: str, line: int) -> None:
        self.findings.append(Finding(Level.ERROR, item, message, line))


def _shown(element: Any) -> str:
    return f"{element.prefix}:{_local(element.tag)}" if element.prefix else _local(element.tag)


def number_problem(text: str, kind: Kind) -> str | None:
    """Why a text is not the numbers that an attribute holds, with the fix; None if it is.

    Reading does not depend on the locale: the decimal separator is a point, digits are ASCII.
    """
    words = text.split()
    for word in words:
        if "," in word:
            return "numbers use a decimal point and are separated by spaces; replace the comma"
        if not NUMBER.fullmatch(word):
            return f"{word!r} is not a number; write digits with a decimal point"
        value = float(word)
        if math.isnan(value) or (math.isinf(value) and not kind.infinite):
            return "the value must be finite; write a number"
        if abs(value) > kind.most and not kind.infinite:
            return f"{word} is larger than {kind.most:g}, the most that a number may be; check its unit"
    if len(words) != kind.count:
        return f"{kind.count} number{'s' * (kind.count > 1)} expected, got {len(words)}; separate them by spaces"
    return None
