"""The robots that algorithms are tried on: small, and with much of what algorithms have to handle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "descriptions"


@dataclass(frozen=True)
class SampleRobot:
    """A description with what is built from it.

    Attributes
    ----------
    name : str
    urdf : Path
    floating_base : bool
    frames : tuple of str
        Frames of contacts, and that costs follow.
    """

    name: str
    urdf: Path
    floating_base: bool = False
    frames: tuple[str, ...] = ()


ROBOTS = (
    SampleRobot("fixed", FOLDER / "arm3.urdf", False, ("hand",)),
    SampleRobot("floating", FOLDER / "biped3.urdf", True, ("left_foot", "right_foot")),
)
"""An arm with a revolute, a prismatic and a mimic joint; a free trunk with two branches and a spherical joint."""
