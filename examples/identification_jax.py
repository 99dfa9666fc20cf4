"""Identification of a payload by gradient: inertial parameters that explain measured torques, in JAX.

    python examples/identification_jax.py [--output payload.svg]

The robot is built with its inertial parameters as an argument, so that torques have derivatives along them. The data
are torques of a motion with an unknown payload, with noise; what is looked for is its mass and its centre of mass.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import grid_rbd.jax

ARM = Path(__file__).parent / "robots" / "arm7.urdf"
MASS, CENTRE = 1.7, (0.03, -0.02, 0.11)  # kg, m
SAMPLES, STEPS, NOISE = 400, 300, 0.05  # N m


def identify(
    robot: grid_rbd.jax.JaxRobotHandle, motion: tuple[jax.Array, ...], torques: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the payload ``[m, m cx, m cy, m cz]``, and how it was found, shape (STEPS, 4)."""
    known = jnp.asarray(robot.inertia_params, torques.dtype)

    def error(payload: jax.Array) -> jax.Array:
        table = known.at[-1, :4].add(payload)
        return 0.5 * jnp.square(robot.inverse_dynamics(*motion, inertia_params=table) - torques).mean()

    curvature = jax.hessian(error)(jnp.zeros(4))  # torques are linear in the parameters: the same everywhere

    def step(payload: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        slope = jax.grad(error)(payload)
        return payload - 0.1 * jnp.linalg.solve(curvature, slope), payload

    return jax.lax.scan(step, jnp.zeros(4), None, STEPS)


def measured(robot: grid_rbd.jax.JaxRobotHandle) -> tuple[tuple[jax.Array, ...], jax.Array]:
    """Return a motion, and the torques that it takes with the payload."""
    random = np.random.default_rng(0)
    rest = random.standard_normal((2, SAMPLES, robot.nv)).astype(np.float32)
    motion = (robot.random(seed=3, n=SAMPLES), *map(jnp.asarray, rest))
    table = robot.inertia_params
    table[-1, :4] += MASS * np.array([1.0, *CENTRE])
    torques = robot.inverse_dynamics(*motion, inertia_params=table)
    return motion, torques + NOISE * random.standard_normal(torques.shape).astype(np.float32)


def draw(history: jax.Array, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    truth = MASS * np.array([1.0, *CENTRE])
    for values, true, label in zip(history.T, truth, ("m (kg)", "m cx (kg m)", "m cy (kg m)", "m cz (kg m)")):
        (line,) = axes.plot(values, label=label)
        axes.axhline(true, color=line.get_color(), linestyle=":", linewidth=0.8)
    axes.set(xlabel="step of the descent", ylabel="parameters of the payload", title="A payload from noisy torques")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("payload.svg"), help="picture (default: %(default)s)")
    path = parser.parse_args().output
    robot = grid_rbd.jax.load_robot(ARM, algorithm_list="inverse_dynamics", runtime_inertia=True)
    motion, torques = measured(robot)
    payload, history = jax.jit(lambda torques: identify(robot, motion, torques))(torques)
    draw(history, path)
    mass, centre = float(payload[0]), np.asarray(payload[1:] / payload[0])
    print(f"mass {mass:.3f} kg, is {MASS} kg; centre {1e3 * centre[0]:.1f} {1e3 * centre[1]:.1f} ", end="")
    print(f"{1e3 * centre[2]:.1f} mm, is {' '.join(f'{1e3 * c:.0f}' for c in CENTRE)} mm; picture: {path}")


if __name__ == "__main__":
    main()
