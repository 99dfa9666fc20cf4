"""Write arm7.urdf, a seven-joint arm with a spherical shoulder and wrist: ``python make_arm.py > arm7.urdf``."""

from __future__ import annotations

from solids import Robot, Solid, box, cylinder

COMMENT = """Seven-joint arm of the grid-rbd examples, MIT licence. Our own design: made by make_arm.py from
     cylinders and boxes of plausible sizes and masses; it models no product."""
QUARTER = 1.570796326794897
LONG, SHORT = 0.205, 0.185

# A yaw or roll link stands along its z axis, a pitch link along its y axis.
LINKS: dict[str, tuple[Solid, ...]] = {
    "shoulder_yaw_link": (
        cylinder(3.1, 0.07, 0.2, (0.0, -0.02, 0.09), "z"),
        cylinder(1.4, 0.065, 0.15, (0.0, -0.04, LONG), "y"),
    ),
    "shoulder_pitch_link": (
        cylinder(2.3, 0.068, 0.19, (0.0, 0.08, 0.0), "y"),
        cylinder(1.7, 0.06, 0.13, (0.003, 0.01, 0.05), "z"),
    ),
    "upper_arm_link": (
        cylinder(2.0, 0.06, 0.19, (0.0, 0.02, 0.1), "z"),
        cylinder(1.1, 0.055, 0.14, (0.0, 0.03, LONG), "y"),
    ),
    "elbow_link": (
        cylinder(1.8, 0.06, 0.16, (0.0, 0.07, 0.0), "y"),
        cylinder(1.0, 0.052, 0.12, (0.0, 0.0, -0.03), "z"),
    ),
    "forearm_link": (
        cylinder(1.3, 0.055, 0.2, (0.0, -0.02, 0.09), "z"),
        box(0.5, (0.05, 0.09, 0.1), (0.0, -0.06, 0.16)),
    ),
    "wrist_pitch_link": (
        cylinder(1.6, 0.055, 0.12, (0.0, 0.02, 0.01), "z"),
        box(0.3, (0.06, 0.05, 0.05), (0.01, 0.05, 0.02)),
    ),
    "wrist_roll_link": (cylinder(0.35, 0.042, 0.06, (0.0, 0.0, 0.015), "z"),),
}

# Name, parent, child, distance from the parent joint, roll, limit (both ways), speed, torque.
JOINTS = [
    ("shoulder_yaw", "base", "shoulder_yaw_link", 0.155, 0.0, 2.95, 1.5, 320.0),
    ("shoulder_pitch", "shoulder_yaw_link", "shoulder_pitch_link", LONG, QUARTER, 2.05, 1.5, 320.0),
    ("upper_arm_roll", "shoulder_pitch_link", "upper_arm_link", SHORT, -QUARTER, 2.95, 1.75, 176.0),
    ("elbow_pitch", "upper_arm_link", "elbow_link", LONG, QUARTER, 2.05, 1.3, 176.0),
    ("forearm_roll", "elbow_link", "forearm_link", SHORT, -QUARTER, 2.95, 2.25, 110.0),
    ("wrist_pitch", "forearm_link", "wrist_pitch_link", LONG, QUARTER, 2.05, 2.35, 40.0),
    ("wrist_roll", "wrist_pitch_link", "wrist_roll_link", 0.08, -QUARTER, 3.0, 2.35, 40.0),
]


def make() -> str:
    """Return the URDF."""
    robot = Robot("arm7", COMMENT)
    base = (cylinder(4.6, 0.085, 0.14, (-0.01, 0.0, 0.07), "z"), box(0.8, (0.1, 0.06, 0.08), (-0.1, 0.0, 0.05)))
    robot.link("base", *base)
    for link, solids in LINKS.items():
        robot.link(link, *solids)
    robot.link("flange")
    for name, parent, child, reach, roll, limit, speed, torque in JOINTS:
        along = (0.0, 0.0, reach) if roll >= 0.0 else (0.0, reach, 0.0)
        robot.revolute(
            name,
            parent,
            child,
            along,
            "z",
            rpy=(roll, 0.0, 0.0),
            limits=(-limit, limit),
            speed=speed,
            torque=torque,
            damping=0.5,
        )
    robot.fixed("flange_mount", "wrist_roll_link", "flange", (0.0, 0.0, 0.045))
    return robot.text()


if __name__ == "__main__":
    print(make(), end="")
