"""Write humanoid29.urdf, a 29-joint humanoid: ``python make_humanoid.py > humanoid29.urdf``.

Six joints a leg, three in the waist, seven an arm. x points forward, y to the left, z up; at zero it stands upright,
upper arms hanging and forearms forward.
"""

from __future__ import annotations

from solids import Robot, Vector, box, cylinder, sphere

COMMENT = """29-joint humanoid of the grid-rbd examples, MIT licence; fixed or floating base. Our own design: made by
     make_humanoid.py from simple solids of plausible sizes and masses; it models no product."""
Hinge = tuple[str, str, str, Vector, str, tuple[float, float], float, float]
"""Name, parent, child, origin, axis, limits (rad, of the left side), speed (rad/s) and torque (N m)."""

THIGH, SHANK, UPPER_ARM, FOREARM = 0.32, 0.31, 0.2, 0.19


def add_leg(robot: Robot, side: str, left: float) -> None:
    """Add hip (pitch, roll, yaw), knee and ankle (pitch, roll); ``left`` is +1 or -1."""
    robot.link(f"{side}_hip_pitch_link", cylinder(1.35, 0.045, 0.08, (0.0, 0.04 * left, 0.0), "y"))
    robot.link(f"{side}_hip_roll_link", cylinder(1.5, 0.045, 0.09, (0.03, 0.0, -0.03), "x"))
    robot.link(f"{side}_thigh_link", cylinder(1.9, 0.055, THIGH - 0.08, (0.005, 0.0, -THIGH / 2), "z"))
    robot.link(
        f"{side}_shank_link",
        cylinder(0.7, 0.05, 0.07, (0.0, 0.0, 0.0), "y"),
        cylinder(1.2, 0.036, SHANK, (0.005, 0.0, -SHANK / 2), "z"),
    )
    robot.link(f"{side}_ankle_link", cylinder(0.08, 0.015, 0.05, (0.0, 0.0, 0.0), "x"))
    robot.link(f"{side}_foot_link", box(0.62, (0.2, 0.07, 0.03), (0.035, 0.0, -0.03)))
    robot.link(f"{side}_sole")

    limb = [
        ("hip_pitch", "pelvis", "hip_pitch_link", (0.0, 0.065 * left, -0.1), "y", (-2.5, 2.8), 32.0, 88.0),
        ("hip_roll", "hip_pitch_link", "hip_roll_link", (0.0, 0.05 * left, -0.03), "x", (-0.5, 2.9), 20.0, 139.0),
        ("hip_yaw", "hip_roll_link", "thigh_link", (0.025, 0.0, -0.12), "z", (-2.7, 2.7), 32.0, 88.0),
        ("knee", "thigh_link", "shank_link", (-0.02, 0.0, -THIGH + 0.14), "y", (-0.08, 2.8), 20.0, 139.0),
        ("ankle_pitch", "shank_link", "ankle_link", (0.0, 0.0, -SHANK), "y", (-0.87, 0.52), 37.0, 50.0),
        ("ankle_roll", "ankle_link", "foot_link", (0.0, 0.0, -0.017), "x", (-0.26, 0.26), 37.0, 50.0),
    ]
    add_limb(robot, side, left, limb)
    robot.fixed(f"{side}_sole_mount", f"{side}_foot_link", f"{side}_sole", (0.035, 0.0, -0.045))


def add_arm(robot: Robot, side: str, left: float) -> None:
    """Add shoulder (pitch, roll, yaw), elbow and wrist (roll, pitch, yaw); ``left`` is +1 or -1."""
    robot.link(f"{side}_shoulder_pitch_link", cylinder(0.72, 0.034, 0.06, (0.0, 0.03 * left, 0.0), "y"))
    robot.link(f"{side}_shoulder_roll_link", cylinder(0.65, 0.034, 0.07, (0.0, 0.0, -0.04), "x"))
    robot.link(f"{side}_upper_arm_link", cylinder(0.74, 0.033, UPPER_ARM - 0.08, (0.0, 0.0, -UPPER_ARM / 2), "z"))
    robot.link(f"{side}_elbow_link", cylinder(0.6, 0.03, 0.1, (0.05, 0.0, -0.01), "x"))
    robot.link(f"{side}_forearm_link", cylinder(0.09, 0.027, FOREARM - 0.13, (0.03, 0.0, 0.0), "x"))
    robot.link(f"{side}_wrist_pitch_link", cylinder(0.48, 0.026, 0.05, (0.02, 0.0, 0.0), "y"))
    robot.link(f"{side}_hand_link", box(0.25, (0.11, 0.06, 0.035), (0.07, 0.0, 0.0)))
    robot.link(f"{side}_palm")

    limb = [
        ("shoulder_pitch", "torso", "shoulder_pitch_link", (0.0, 0.1 * left, 0.24), "y", (-3.0, 2.6), 37.0, 25.0),
        (
            "shoulder_roll",
            "shoulder_pitch_link",
            "shoulder_roll_link",
            (0.0, 0.05 * left, -0.01),
            "x",
            (-1.5, 2.2),
            37.0,
            25.0,
        ),
        (
            "shoulder_yaw",
            "shoulder_roll_link",
            "upper_arm_link",
            (0.0, 0.005 * left, -0.1),
            "z",
            (-2.6, 2.6),
            37.0,
            25.0,
        ),
        ("elbow", "upper_arm_link", "elbow_link", (0.015, 0.0, -UPPER_ARM + 0.12), "y", (-1.0, 2.0), 37.0, 25.0),
        ("wrist_roll", "elbow_link", "forearm_link", (0.1, 0.0, -0.01), "x", (-1.9, 1.9), 37.0, 25.0),
        ("wrist_pitch", "forearm_link", "wrist_pitch_link", (0.04, 0.0, 0.0), "y", (-1.6, 1.6), 22.0, 5.0),
        ("wrist_yaw", "wrist_pitch_link", "hand_link", (0.046, 0.0, 0.0), "z", (-1.6, 1.6), 22.0, 5.0),
    ]
    add_limb(robot, side, left, limb)
    robot.fixed(f"{side}_palm_mount", f"{side}_hand_link", f"{side}_palm", (0.08, 0.0, 0.0))


def add_limb(robot: Robot, side: str, left: float, limb: list[Hinge]) -> None:
    """Add the hinges of one limb. Roll and yaw limits are mirrored on the right side."""
    for name, parent, child, xyz, axis, limits, speed, torque in limb:
        carrier = parent if parent in {"pelvis", "torso"} else f"{side}_{parent}"
        mirrored = limits if axis == "y" or left > 0 else (-limits[1], -limits[0])
        add_hinge(robot, f"{side}_{name}", carrier, f"{side}_{child}", xyz, axis, mirrored, speed, torque)


def add_hinge(
    robot: Robot,
    name: str,
    parent: str,
    child: str,
    xyz: Vector,
    axis: str,
    limits: tuple[float, float],
    speed: float,
    torque: float,
) -> None:
    """Add one row of a table of hinges."""
    robot.revolute(name, parent, child, xyz, axis, limits=limits, speed=speed, torque=torque)


def make() -> str:
    """Return the URDF."""
    robot = Robot("humanoid29", COMMENT)
    robot.link("pelvis", box(3.4, (0.12, 0.16, 0.1), (0.0, 0.0, -0.06)))
    robot.link("waist_yaw_link", cylinder(0.24, 0.04, 0.03, (0.0, 0.0, 0.015), "z"))
    robot.link("waist_roll_link", cylinder(0.09, 0.02, 0.05, (0.0, 0.0, 0.0), "x"))
    robot.link(
        "torso",
        box(6.9, (0.13, 0.19, 0.27), (0.0, 0.0, 0.15)),
        cylinder(0.4, 0.03, 0.08, (0.0, 0.0, 0.32), "z"),
        sphere(1.1, 0.085, (0.01, 0.0, 0.42)),
    )
    robot.link("imu")
    waist = [
        ("waist_yaw", "pelvis", "waist_yaw_link", (0.0, 0.0, 0.0), "z", (-2.6, 2.6), 32.0, 88.0),
        ("waist_roll", "waist_yaw_link", "waist_roll_link", (0.0, 0.0, 0.035), "x", (-0.5, 0.5), 37.0, 50.0),
        ("waist_pitch", "waist_roll_link", "torso", (0.0, 0.0, 0.02), "y", (-0.5, 0.5), 37.0, 50.0),
    ]
    for hinge in waist:
        add_hinge(robot, *hinge)
    robot.fixed("imu_mount", "torso", "imu", (-0.04, 0.0, 0.13))
    for side, left in (("left", 1.0), ("right", -1.0)):
        add_leg(robot, side, left)
        add_arm(robot, side, left)
    return robot.text()


if __name__ == "__main__":
    print(make(), end="")
