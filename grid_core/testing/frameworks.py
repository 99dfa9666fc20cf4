"""JAX and PyTorch, where they are installed: the values of the NumPy handle, and the slopes of the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from grid_core.errors import NoDerivativeError
from grid_core.kernel.derivative import slopes_product
from grid_core.testing.bench import SEED, Array, Bench, as_type, distance
from grid_core.testing.calls import SINGLE
from grid_core.testing.derivatives import moving_inputs
from grid_core.testing.errors import NotApplicable

SAMPLES = 3

Function = Callable[..., tuple[Any, ...]]


def check_jax(bench: Bench) -> None:
    """Call inside ``jit``, and take the slopes of ``vjp``."""
    _require("jax")
    import jax

    def slopes(function: Function, values: list[Any], seeds: list[Any]) -> list[Any]:
        return list(jax.vjp(function, *values)[1](tuple(seeds)))

    _check(bench, "jax", jax.jit, jax.numpy.asarray, slopes)


def check_torch(bench: Bench) -> None:
    """Call, and take the slopes of ``autograd``."""
    _require("torch")
    import torch

    def slopes(function: Function, values: list[Any], seeds: list[Any]) -> list[Any]:
        leaves = [value.requires_grad_() for value in values]
        return list(torch.autograd.grad(function(*leaves), leaves, seeds))

    _check(bench, "torch", lambda function: function, torch.tensor, slopes)


def _require(framework: str) -> None:
    if find_spec(framework) is None:
        raise NotApplicable(f"{framework} is not installed")


def _check(
    bench: Bench,
    framework: str,
    compiled: Callable[[Function], Function],
    array: Callable[[Any], Any],
    slopes: Callable[[Function, list[Any], list[Any]], list[Any]],
) -> None:
    arguments = bench.arguments(SAMPLES, dtype="float32")
    moving = moving_inputs(bench, arguments)
    fixed = {name: value for name, value in arguments.items() if name not in moving}
    function = partial(_call, getattr(bench.handle("float32", backend=framework), bench.algorithm.name), moving, fixed)
    values = [array(arguments[name]) for name in moving]
    expected = bench.outputs(bench.handle("float32"), arguments)
    for (name, rows), found in zip(expected.items(), compiled(function)(*values)):
        if distance(np.asarray(found), rows) > 0.0:
            raise bench.refuse(f"output {name!r} in {framework} is not that of NumPy arrays", "report it")
    if bench.algorithm.emit is None or not moving:
        return
    draw = np.random.default_rng(SEED)
    seeds = {name: draw.standard_normal(rows.shape).astype("float32") for name, rows in expected.items()}
    try:
        found_slopes = slopes(function, values, [array(seed) for seed in seeds.values()])
    except NoDerivativeError as reason:
        raise NotApplicable(str(reason)) from None
    for name, found, right in zip(moving, found_slopes, _interpreted(bench, arguments, moving, seeds)):
        if (error := distance(np.asarray(found).reshape(right.shape), right)) > SINGLE:
            raise bench.refuse(
                f"the slope along {name!r} in {framework} differs from the interpreter by {error:.1e} of its largest "
                f"entry, more than {SINGLE:.0e}",
                "avoid differences of large numbers that nearly cancel",
            )


def _call(method: Callable[..., Any], moving: tuple[str, ...], fixed: dict[str, Any], *values: Any) -> tuple[Any, ...]:
    answer = method(**dict(zip(moving, values)), **fixed)
    return tuple(answer) if isinstance(answer, tuple) else (answer,)


def _interpreted(
    bench: Bench, arguments: dict[str, Any], moving: tuple[str, ...], seeds: dict[str, Any]
) -> list[Array]:
    """Return the slopes along the inputs that move, in float64."""
    product = slopes_product(bench.algorithm, moving, tuple(arguments))
    numbers = bench.numbers({name: as_type(value, "float64") for name, value in arguments.items()})
    numbers |= {product.factors[name]: seed.reshape(SAMPLES, -1).astype(float) for name, seed in seeds.items()}
    found = bench.evaluated(bench.kernel(product.algorithm, [*arguments, *product.factors.values()]), numbers)
    return [found[product.results[name]] for name in moving]
