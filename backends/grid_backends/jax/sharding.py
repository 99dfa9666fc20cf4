"""How a call is divided among devices: by its batch axes, each device computing its own samples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from jax.experimental.custom_partitioning import custom_partitioning

from grid_backends.frameworks.operation import Operation


def partitioned(call: Callable[..., Any], operation: Operation, axes: tuple[int, ...]) -> Any:
    """Return a call that XLA divides along the batch axes, and along no other.

    Parameters
    ----------
    axes : tuple of int
        How many batch axes each argument has.
    """
    divided: Any = custom_partitioning(call)
    numbers = count()
    batch = " ".join(f"b{i}" for i in range(max(axes, default=0)))

    def factors(shape: tuple[int, ...], batched: bool) -> str:
        own = [f"s{next(numbers)}" for _ in shape]
        return " ".join([batch, *own] if batched else own)

    inputs = ", ".join(factors(a.shape, n > 0) for a, n in zip(operation.arguments, axes))
    outputs = ", ".join(factors(o.shape, True) for o in operation.outputs)
    samples = tuple(f"s{i}" for i in range(next(numbers)))

    def partition(mesh: Any, arguments: Any, results: Any) -> Any:
        return mesh, call, [r.sharding for r in results], tuple(a.sharding for a in arguments)

    divided.def_partition(
        partition=partition,
        sharding_rule=f"{inputs} -> {outputs}",
        need_replication_factors=samples,
    )
    return divided
