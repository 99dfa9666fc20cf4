"""The robots that the dynamics tests name: golden ones, public ones, and trees of ours that cover joint classes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from grid_core.model import Model
from tests.oracle.evaluation import quiet_model
from tests.oracle.trees import Node, chain, describe

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Robot:
    """A description (path or XML text) and its base."""

    urdf: Path | str
    floating_base: bool = False

    def model(self) -> Model:
        if isinstance(self.urdf, Path) and not self.urdf.exists():
            pytest.skip(f"{self.urdf.name} comes with example-robot-data, which is not installed")
        return quiet_model(self.urdf, floating_base=self.floating_base)


def public(name: str) -> Path:
    """Return the path of a robot of example-robot-data, whether it is installed or not."""
    try:
        package = distribution("example_robot_data")
    except PackageNotFoundError:
        return Path(name)
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / name


GOLDEN = {
    "double_pendulum_continuous": Robot(TESTS / "golden" / "double_pendulum_continuous.urdf"),
    "iiwa14": Robot(TESTS / "golden" / "iiwa14.urdf"),
    "panda": Robot(TESTS / "golden" / "panda.urdf"),
    "go2": Robot(TESTS / "golden" / "go2.urdf", floating_base=True),
}
HUMANOIDS = {
    "humanoid29": Robot(TESTS.parent / "examples" / "robots" / "humanoid29.urdf", floating_base=True),
    "g1": Robot(public("g1_description/urdf/g1_29dof_rev_1_0.urdf"), floating_base=True),
}
BRANCHES = (
    *chain("revolute", "spherical", "continuous"),
    Node("revolute", 0),
    Node("spherical", 3),
    Node("revolute", 3, aligned=True),
    Node("prismatic", -1),
)
FOLLOWERS = (
    *chain("revolute", "revolute", "prismatic"),
    Node("revolute", 1, follows=(0, -1.7, 0.3)),
    Node("prismatic", 3, follows=(2, 0.5, -0.1)),
    Node("continuous", -1, follows=(3, 2.0, 0.2)),
)
TREES = {
    "spherical joints": Robot(describe(chain("revolute", "spherical", "revolute", "spherical"), 1)),
    "planar joints": Robot(describe(chain("planar", "revolute", "planar"), 2)),
    "prismatic joints": Robot(describe(chain("prismatic", "prismatic", "prismatic", "revolute"), 3)),
    "helical joints": Robot(describe(chain("helical", "revolute", "helical"), 4)),
    "skew axes": Robot(describe(chain(*["revolute"] * 6), 5)),
    "axes of the frame": Robot(describe(chain(*["revolute"] * 4, "prismatic", aligned=True), 6)),
    "a free root joint": Robot(describe(chain("floating", "revolute", "revolute"), 7)),
    "floating joints inside": Robot(describe(chain("revolute", "floating", "revolute", "floating", "revolute"), 8)),
    "floating joints on a free base": Robot(describe(chain("revolute", "floating", "revolute"), 9), floating_base=True),
    "two trees in the world": Robot(describe((Node("revolute", -1), *chain("floating", "revolute")[:1]), 10)),
    "branches": Robot(describe(BRANCHES, 11)),
    "branches on a free base": Robot(describe(BRANCHES, 12), floating_base=True),
    "mimic chains": Robot(describe(FOLLOWERS, 13)),
    "mimic chains on a free base": Robot(describe(FOLLOWERS, 14), floating_base=True),
    "a massless link": Robot(
        describe([Node("revolute", -1, light=True), Node("prismatic", 0), Node("revolute", 1)], 15)
    ),
}
MIXED = {
    "mixed fixed": Robot(
        describe(
            [*chain("planar", "spherical", "helical"), Node("floating", 1), Node("prismatic", 3), Node("revolute", -1)],
            16,
        )
    ),
    "mixed floating": Robot(
        describe(
            [
                *chain("revolute", "spherical", "prismatic"),
                Node("revolute", 0, light=True),
                Node("revolute", 3, follows=(0, -0.7, 0.2)),
                Node("helical", 3),
            ],
            17,
        ),
        floating_base=True,
    ),
}
"""Every joint class in two robots: what is compiled, where compiling each tree would take too long."""
