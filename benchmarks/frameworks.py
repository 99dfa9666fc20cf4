"""What calls through JAX and PyTorch cost above the NumPy handle, what mapping costs, and a peer written in JAX.

Needs both frameworks and, for the last part, frax; what is not installed is left out.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import grid_rbd
from benchmarks.report import Bar, Measurement
from benchmarks.robots import IIWA14
from benchmarks.timing import race, repeated

ROUNDS = 20
SECONDS = 0.01
MAPPED = 1024
BATCHES = (1, 256, 1024, 16384)
SIGNATURES = {"inverse_dynamics": 3, "forward_dynamics": 3, "crba": 1, "frame_jacobian": 1}
"""Methods that are compared, and how many of q, qd and qdd or u they take."""

BARS = [
    Bar("iiwa14.inverse_dynamics.jax.microseconds_above_numpy", 25.0),
    Bar("iiwa14.inverse_dynamics.torch.microseconds_above_numpy", 25.0),
    Bar("iiwa14.inverse_dynamics.jax.vmap_per_batched", 1.1),
    Bar("iiwa14.inverse_dynamics.torch.vmap_per_batched", 1.1),
    *(Bar(f"frax.{name}.{batch}.speedup", 1.0, upwards=True) for name in SIGNATURES for batch in BATCHES),
    Bar("frax.geometric_mean.speedup", 8.0, upwards=True),
]


def measure(store: Path) -> Iterator[Measurement]:
    """Measure what the installed frameworks allow."""
    if find_spec("jax") is not None:
        yield from _overhead(store, "jax", _jax_calls)
    if find_spec("torch") is not None:
        yield from _overhead(store, "torch", _torch_calls)
    if find_spec("jax") is not None and find_spec("frax") is not None:
        yield from against_frax(store, "cpu", BATCHES)


Calls = Callable[[Any, tuple[Any, ...]], dict[str, Callable[[], object]]]


def _overhead(store: Path, backend: str, calls: Calls) -> Iterator[Measurement]:
    options = {"cache_dir": store, "lazy": True, **IIWA14.options}
    plain, robot = (grid_rbd.load_robot(IIWA14.path, backend=name, **options) for name in ("numpy", backend))
    name = f"iiwa14.inverse_dynamics.{backend}"
    single = tuple(_samples(plain, 1))
    turns = {"numpy": lambda: plain.inverse_dynamics(*single), "one": calls(robot, single)["batched"]}
    times = race({name: repeated(call, SECONDS) for name, call in turns.items()}, ROUNDS)
    yield Measurement(name, "microseconds_above_numpy", (min(times["one"]) - min(times["numpy"])) * 1e6)
    many = {name: repeated(call, SECONDS) for name, call in calls(robot, tuple(_samples(plain, MAPPED))).items()}
    times = race(many, ROUNDS)
    yield Measurement(name, "vmap_per_batched", min(times["mapped"]) / min(times["batched"]))


def _samples(robot: Any, batch: int) -> list[Any]:
    rest = np.random.default_rng(0).standard_normal((2, batch, robot.nv)).astype(robot.dtype)
    return [robot.random(seed=0, n=batch), *rest]


def _jax_calls(robot: Any, arguments: tuple[Any, ...]) -> dict[str, Callable[[], object]]:
    import jax

    values = tuple(map(jax.numpy.asarray, arguments))
    batched, mapped = jax.jit(robot.inverse_dynamics), jax.jit(jax.vmap(robot.inverse_dynamics))
    return {
        "batched": lambda: batched(*values).block_until_ready(),
        "mapped": lambda: mapped(*values).block_until_ready(),
    }


def _torch_calls(robot: Any, arguments: tuple[Any, ...]) -> dict[str, Callable[[], object]]:
    import torch

    values = tuple(map(torch.from_numpy, arguments))
    mapped = torch.func.vmap(robot.inverse_dynamics)
    return {"batched": lambda: robot.inverse_dynamics(*values), "mapped": lambda: mapped(*values)}


def against_frax(store: Path, device: str, batches: tuple[int, ...], section: str = "") -> Iterator[Measurement]:
    """Time jitted functions of arrays that JAX holds on its default device, both in one process and in turns."""
    import jax

    from benchmarks.peers import frax

    robot = grid_rbd.load_robot(frax.description(), backend="jax", device=device, cache_dir=store, lazy=True)
    ours = {name: jax.jit(getattr(robot, name)) for name in SIGNATURES}
    theirs = {name: jax.jit(jax.vmap(function)) for name, function in frax.methods().items()}
    speedups = []
    for name, count in SIGNATURES.items():
        for batch in batches:
            values = tuple(map(jax.numpy.asarray, _samples(robot, batch)[:count]))
            turns = {"ours": _waiting(ours[name], values), "frax": _waiting(theirs[name], values)}
            times = race({who: repeated(call, SECONDS) for who, call in turns.items()}, ROUNDS)
            speedups.append(min(times["frax"]) / min(times["ours"]))
            yield Measurement(f"{section}frax.{name}.{batch}", "microseconds", min(times["frax"]) * 1e6)
            yield Measurement(f"{section}ours.{name}.{batch}", "microseconds", min(times["ours"]) * 1e6)
            yield Measurement(f"{section}frax.{name}.{batch}", "speedup", speedups[-1])
    yield Measurement(f"{section}frax.geometric_mean", "speedup", statistics.geometric_mean(speedups))


def _waiting(function: Callable[..., Any], values: tuple[Any, ...]) -> Callable[[], object]:
    return lambda: function(*values).block_until_ready()
