"""The robots that are measured."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
PREFIX = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
"""Where the wheels of Pinocchio and its robots put their files."""


@dataclass(frozen=True)
class Robot:
    """A description and how it is built, here and by the peer."""

    name: str
    path: Path
    floating: bool

    @property
    def options(self) -> dict[str, Any]:
        """Build options. Pinocchio's derivatives know no mimic joints, so these own a coordinate on both sides."""
        return {"floating_base": self.floating, "follow_mimic": False}


IIWA14 = Robot("iiwa14", GOLDEN / "iiwa14.urdf", floating=False)
PANDA = Robot("panda", GOLDEN / "panda.urdf", floating=False)
GO2 = Robot("go2", GOLDEN / "go2.urdf", floating=True)
G1 = Robot(
    "g1", PREFIX / "share/example-robot-data/robots/g1_description/urdf/g1_29dof_rev_1_0.urdf", floating=True
)  # fmt: skip
ROBOTS = (IIWA14, PANDA, GO2, G1)
