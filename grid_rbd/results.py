"""The named tuples of algorithms with several results, by the names that the declarations give them."""

from __future__ import annotations

from typing import Any

from grid_backends.numpy.results import result_type
from grid_core.plugins.manager import load_catalogue


def declared_result(name: str) -> type[tuple[Any, ...]]:
    """Return the class that some algorithm declares for its result.

    Raises
    ------
    AttributeError
        No algorithm of any plugin declares one of this name.
    """
    for algorithm in load_catalogue().algorithms.values():
        if algorithm.result == name:
            return result_type(name, tuple(output.name for output in algorithm.outputs))
    raise AttributeError(f"module 'grid_rbd' has no attribute {name!r}, and no algorithm calls its result so")
