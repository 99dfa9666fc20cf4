"""From a robot description to the fastest batched rigid-body dynamics for that robot."""

from grid_core.version import __version__

__all__ = ["__version__"]
