"""The JAX front-end: a handle whose methods are calls of a primitive."""

from __future__ import annotations

from grid_backends.jax.handle import JaxRobotHandle

__all__ = ["JaxRobotHandle"]
