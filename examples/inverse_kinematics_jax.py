"""Inverse kinematics by gradient descent in plain JAX: many arms at once reach for points, each from its own posture.

    python examples/inverse_kinematics_jax.py [--output reaching.svg]

The descent is one jitted scan; the gradient of the end-effector position is one more unit of the robot.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp

import grid_rbd.jax

ARM = Path(__file__).parent / "robots" / "arm7.urdf"
SAMPLES, STEPS = 64, 400
RATE, MOMENTUM = 0.5, 0.9


def reach(robot: grid_rbd.jax.JaxRobotHandle, q: jax.Array, goals: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the final postures (B, nq), and the distances (STEPS, B) to the goals (B, 3) on the way, m."""

    def missed(q: jax.Array, goal: jax.Array) -> jax.Array:
        return robot.end_effector_pose(q)[..., :3] - goal

    slopes = jax.vmap(jax.grad(lambda q, goal: 0.5 * jnp.square(missed(q, goal)).sum()))

    def step(state: tuple[jax.Array, jax.Array], _: None) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        q, pace = state
        pace = MOMENTUM * pace - RATE * slopes(q, goals)
        return (q + pace, pace), jnp.linalg.norm(missed(q, goals), axis=-1)

    (q, _), distances = jax.lax.scan(step, (q, jnp.zeros_like(q)), None, STEPS)
    return q, distances


def draw(distances: jax.Array, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    axes.semilogy(1e3 * distances, color="tab:blue", alpha=0.2, linewidth=0.8)
    axes.semilogy(1e3 * jnp.median(distances, axis=1), color="black", label="median")
    axes.set(xlabel="step of the descent", ylabel="distance to the goal (mm)", title=f"{SAMPLES} arms reach at once")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("reaching.svg"), help="picture (default: %(default)s)")
    path = parser.parse_args().output
    robot = grid_rbd.jax.load_robot(ARM, algorithm_list="end_effector_pose")
    goals = robot.end_effector_pose(robot.random(seed=1, n=SAMPLES))[:, :3]
    _, distances = jax.jit(lambda q: reach(robot, q, goals))(robot.random(seed=2, n=SAMPLES))
    draw(distances, path)
    print(f"median distance: {1e3 * float(jnp.median(distances[0])):.1f} mm before, ", end="")
    print(f"{1e3 * float(jnp.median(distances[-1])):.4f} mm after {STEPS} steps; picture: {path}")


if __name__ == "__main__":
    main()
