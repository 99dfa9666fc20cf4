"""The one entry point: a description in, a model out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grid_core.model.model import Model
    from grid_core.model.xml_source import Source


def load_model(
    source: str | Path | bytes | Source,
    *,
    floating_base: bool = False,
    follow_mimic: bool = True,
    name: str | None = None,
) -> Model:
    """Load a robot description.

    Parameters
    ----------
    source : str, Path, bytes or Source
        A URDF file's path, its text (a ``str`` that starts with ``<``), or its bytes. Meshes are never opened.
    floating_base : bool
        Free the root link: joint 0, ``floating_base_joint``, moves body 0 with six rates, its quaternion xyzw in
        q[3:7]. A root link ``world`` without mass stays behind, its child is freed. Otherwise the root link is
        the world.
    follow_mimic : bool
        Mimic joints follow their target and own no coordinate. False makes each of them an independent joint.
    name : str or None
        Robot name instead of the description's.

    Returns
    -------
    Model
        Joints depth first, children sorted by child link name, then joint name.

    Raises
    ------
    URDFParseError
        The description cannot be read or breaks a rule; the message names element, rule, value, place and fix of each.
    MimicResolutionError, UnsupportedJointTypeError
        Subclasses, raised when that is the first error.
    DescriptionNotFoundError
        There is no such file; a URDFParseError and a FileNotFoundError.
    ArgumentError
        The source is neither path, text nor bytes.

    Warns
    -----
    URDFWarning
        What is unusual, assumed or ignored. ``warnings.simplefilter("error", URDFWarning)`` makes that an error.
    """
    from grid_core.model import findings, mimic, motion, topology, tree, urdf, validate, xml_source

    text = xml_source.read_source(source)
    elements = urdf.read_elements(text)
    findings.report(elements.findings, text.label)
    description = urdf.describe(elements)
    if name is not None:
        description = replace(description, name=name)
    if not follow_mimic:
        joints = tuple(replace(joint, mimic=None) for joint in description.joints)
        description = replace(description, joints=joints)
    found = validate.check(description)
    followers, mimic_found = mimic.resolve(description)
    found += mimic_found
    findings.report(found, text.label)
    if floating_base:
        findings.report(topology.check_free_base(description), text.label)
    model = tree.assemble(description, followers, floating_base=floating_base)
    findings.report(motion.check(model, description), text.label)
    return model
