"""frax, rigid-body dynamics written in JAX: the same methods of the same arm, jitted and mapped over a batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any


def description() -> Path:
    """Return the description of the arm that the package brings."""
    return Path(_frax().assets.KUKA_ASSETS_DIR) / "iiwa14.urdf"


def methods() -> dict[str, Callable[..., Any]]:
    """Return functions of one sample, by the name of our method."""
    import jax.numpy as jnp

    robot, gravity = _frax().load_iiwa(), jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    return {
        "inverse_dynamics": lambda q, qd, qdd: robot.rnea(q, qd, qdd, gravity, None),
        "forward_dynamics": lambda q, qd, u: robot.forward_dynamics(q, qd, u, None),
        "crba": robot.mass_matrix,
        "frame_jacobian": robot.ee_jacobian,
    }


def _frax() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice on flags of XLA
        import frax
        import frax.assets

    return frax
