"""What calls through JAX and PyTorch cost above the NumPy handle, what mapping costs, and a peer written in JAX.

Needs both frameworks and, for the last part, frax; what is not installed is left out.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
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
MAPPED_METHODS = ("inverse_dynamics", "forward_dynamics_gradient")
"""Methods that are mapped over samples, one with little work and one with more; both take three arrays."""
BATCHES = (1, 256, 1024, 16384)
SIGNATURES = {"inverse_dynamics": 3, "forward_dynamics": 3, "crba": 1, "frame_jacobian": 1}
"""Methods that are compared, and how many of q, qd and qdd or u they take."""

BARS = [
    Bar("iiwa14.inverse_dynamics.jax.microseconds_above_numpy", 25.0),
    Bar("iiwa14.inverse_dynamics.torch.microseconds_above_numpy", 25.0),
    *(
        Bar(f"iiwa14.{method}.{way}.vmap_per_batched", 1.1)
        for way in ("jax", "torch", "torch_compiled")
        for method in MAPPED_METHODS
    ),
    *(Bar(f"frax.{name}.{batch}.speedup", 1.0, upwards=True) for name in SIGNATURES for batch in BATCHES),
    Bar("frax.geometric_mean.speedup", 8.0, upwards=True),
]


def measure(store: Path) -> Iterator[Measurement]:
    """Measure what the installed frameworks allow."""
    if find_spec("jax") is not None:
        yield from _overhead(store, "jax", {"jax": _jax_calls})
    if find_spec("torch") is not None:
        yield from _overhead(store, "torch", {"torch": _torch_calls, "torch_compiled": _compiled_torch_calls})
    if find_spec("jax") is not None and find_spec("frax") is not None:
        yield from against_frax(store, "cpu", BATCHES)


Calls = Callable[[Any, str, tuple[Any, ...]], dict[str, Callable[[], object]]]
"""Makes calls of a method on arrays: ``batched``, ``mapped`` and others beside them."""


def _overhead(store: Path, backend: str, ways: Mapping[str, Calls]) -> Iterator[Measurement]:
    """Measure one way to call after the other: that of compilers slows all other Python of a process down."""
    options = {"cache_dir": store, "lazy": True, **IIWA14.options}
    plain, robot = (grid_rbd.load_robot(IIWA14.path, backend=name, **options) for name in ("numpy", backend))
    single = tuple(_samples(plain, 1))
    one = ways[backend](robot, "inverse_dynamics", single)["batched"]
    times = _best({"numpy": lambda: plain.inverse_dynamics(*single), "one": one})
    yield Measurement(f"iiwa14.inverse_dynamics.{backend}", "microseconds_above_numpy", times["one"] - times["numpy"])
    many = tuple(_samples(plain, MAPPED))
    for way, calls in ways.items():
        for method in MAPPED_METHODS:
            name, times = f"iiwa14.{method}.{way}", _best(calls(robot, method, many))
            for who, time in times.items():
                yield Measurement(name, f"{who}_microseconds", time)
            yield Measurement(name, "vmap_per_batched", times["mapped"] / times["batched"])


def _best(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the microseconds of each call in its best round, all in turns."""
    times = race({name: repeated(call, SECONDS) for name, call in calls.items()}, ROUNDS)
    return {name: min(rounds) * 1e6 for name, rounds in times.items()}


def _samples(robot: Any, batch: int) -> list[Any]:
    rest = np.random.default_rng(0).standard_normal((2, batch, robot.nv)).astype(robot.dtype)
    return [robot.random(seed=0, n=batch), *rest]


def _jax_calls(robot: Any, method: str, arguments: tuple[Any, ...]) -> dict[str, Callable[[], object]]:
    import jax

    values = tuple(map(jax.numpy.asarray, arguments))
    function = getattr(robot, method)
    return {"batched": _waiting(jax.jit(function), values), "mapped": _waiting(jax.jit(jax.vmap(function)), values)}


def _torch_calls(robot: Any, method: str, arguments: tuple[Any, ...]) -> dict[str, Callable[[], object]]:
    """Make calls, and one that maps the identity, whose time is that of mapping itself."""
    import torch

    function = getattr(robot, method)
    functions = {"batched": function, "mapped": torch.func.vmap(function), "identity": torch.func.vmap(lambda q, *_: q)}
    return {name: partial(made, *map(torch.from_numpy, arguments)) for name, made in functions.items()}


def _compiled_torch_calls(robot: Any, method: str, arguments: tuple[Any, ...]) -> dict[str, Callable[[], object]]:
    import torch

    function = getattr(robot, method)
    functions = {"batched": function, "mapped": torch.func.vmap(function)}
    programs = {name: torch.compile(made, fullgraph=True) for name, made in functions.items()}
    return {name: partial(made, *map(torch.from_numpy, arguments)) for name, made in programs.items()}


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
            times = _best(turns)
            speedups.append(times["frax"] / times["ours"])
            yield Measurement(f"{section}frax.{name}.{batch}", "microseconds", times["frax"])
            yield Measurement(f"{section}ours.{name}.{batch}", "microseconds", times["ours"])
            yield Measurement(f"{section}frax.{name}.{batch}", "speedup", speedups[-1])
    yield Measurement(f"{section}frax.geometric_mean", "speedup", statistics.geometric_mean(speedups))


def _waiting(function: Callable[..., Any], values: tuple[Any, ...]) -> Callable[[], object]:
    return lambda: function(*values).block_until_ready()
