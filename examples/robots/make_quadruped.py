"""Write quadruped12.urdf, a twelve-joint quadruped: ``python make_quadruped.py > quadruped12.urdf``."""

from __future__ import annotations

from solids import Robot, box, cylinder, sphere

COMMENT = """Twelve-joint quadruped of the grid-rbd examples, MIT licence; register it with floating_base=True. Our own
     design: made by make_quadruped.py from simple solids of plausible sizes and masses; it models no product."""
THIGH = SHANK = 0.21


def add_leg(robot: Robot, name: str, front: float, left: float) -> None:
    """Add one leg; ``front`` and ``left`` are +1 or -1."""
    hip, thigh, shank, foot = (f"{name}_{part}" for part in ("hip", "thigh", "shank", "foot"))
    robot.link(hip, cylinder(0.62, 0.044, 0.05, (-0.006 * front, 0.012 * left, 0.0), "y"))
    robot.link(
        thigh,
        cylinder(0.78, 0.046, 0.04, (0.0, -0.02 * left, 0.0), "y"),
        box(0.36, (0.035, 0.026, THIGH), (-0.004, 0.0, -THIGH / 2)),
    )
    robot.link(shank, box(0.13, (0.022, 0.016, SHANK), (0.003, 0.0, -SHANK / 2)))
    robot.link(foot, sphere(0.045, 0.021, (0.0, 0.0, 0.0)))
    robot.revolute(
        f"{hip}_roll", "trunk", hip, (0.19 * front, 0.05 * left, 0.0), "x", limits=(-0.9, 0.9), speed=28.0, torque=22.0
    )
    robot.revolute(
        f"{hip}_pitch", hip, thigh, (0.0, 0.09 * left, 0.0), "y", limits=(-1.4, 3.2), speed=28.0, torque=22.0
    )
    robot.revolute(f"{name}_knee", thigh, shank, (0.0, 0.0, -THIGH), "y", limits=(-2.65, -0.8), speed=16.0, torque=40.0)
    robot.fixed(f"{name}_foot_mount", shank, foot, (0.0, 0.0, -SHANK))


def make() -> str:
    """Return the URDF."""
    robot = Robot("quadruped12", COMMENT)
    robot.link("trunk", box(5.6, (0.36, 0.16, 0.11), (0.0, 0.0, 0.0)), box(1.1, (0.09, 0.1, 0.07), (0.2, 0.0, 0.02)))
    robot.link("imu")
    robot.fixed("imu_mount", "trunk", "imu", (-0.025, 0.0, 0.045))
    for name, front, left in [("fl", 1.0, 1.0), ("fr", 1.0, -1.0), ("rl", -1.0, 1.0), ("rr", -1.0, -1.0)]:
        add_leg(robot, name, front, left)
    return robot.text()


if __name__ == "__main__":
    print(make(), end="")
