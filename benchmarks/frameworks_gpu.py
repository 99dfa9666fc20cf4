"""JAX and PyTorch on GPUs: time of calls inside programs beside the kernel's own, two GPUs, and a peer written in JAX.

``python -m benchmarks frameworks-gpu`` needs a GPU, nvcc, PyTorch (whose profiler measures kernels) and JAX; the last
two parts need a second GPU and frax, and say so where they are not there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import grid_rbd
from benchmarks.device_time import device_times
from benchmarks.frameworks import SIGNATURES, against_frax
from benchmarks.gpu import missing
from benchmarks.report import Bar, Measurement
from benchmarks.robots import GO2, IIWA14, Robot
from benchmarks.samples import samples
from benchmarks.timing import race

ROBOTS = (IIWA14, GO2)
BATCHES = (1024, 16384, 262144)
FRAX_BATCHES = (1, 1024, 16384, 262144)
CHAIN = 32
"""Calls in one program, each of which takes the result of the one before."""
PROGRAMS = 20
ROUNDS = 9
SHARDED = 1_000_000

BARS = [
    *(
        Bar(f"gpu.{framework}.{robot.name}.batch{batch}.time_over_kernel", 1.05)
        for framework in ("jax", "torch")
        for robot in ROBOTS
        for batch in BATCHES
    ),
    Bar("gpu.jax.iiwa14.inverse_dynamics_gradient.two_gpus_speedup", 1.85, upwards=True),
    *(Bar(f"gpu.frax.{name}.{batch}.speedup", 1.0, upwards=True) for name in SIGNATURES for batch in FRAX_BATCHES),
]


def measure(store: Path) -> Iterator[Measurement]:
    """Measure what the machine and the installed frameworks allow, and say what was left out."""
    reason = missing() or ("" if find_spec("jax") else "JAX is not installed")
    if reason:
        print(f"frameworks-gpu: not measured: {reason}", file=sys.stderr)
        return
    own = store.with_name("gpu")
    for robot in ROBOTS:
        yield from _inside_programs(robot, own)
    yield from _two_gpus(own)
    if find_spec("frax") is None:
        print("frameworks-gpu: frax is not installed, nothing compared with it", file=sys.stderr)
    else:
        yield from against_frax(own, "cuda", FRAX_BATCHES, "gpu.")


def _handles(robot: Robot, store: Path) -> dict[str, Any]:
    options = {**robot.options, "device": "cuda", "cache_dir": store, "lazy": True}
    return {b: grid_rbd.load_robot(robot.path, backend=b, **options) for b in ("numpy", "jax", "torch")}


def _inside_programs(robot: Robot, store: Path) -> Iterator[Measurement]:
    handles = _handles(robot, store)
    for batch in BATCHES:
        plain = handles["numpy"]
        values = samples(plain.nq, plain.nv, batch, robot.floating)
        makers = {"jax": _jax_program, "torch": _torch_program}
        programs = {name: make(handles[name], values) for name, make in makers.items()}
        times = race({name: _per_call(*program) for name, program in programs.items()}, ROUNDS)
        kernel = _kernel_time(plain, values)
        for name in makers:
            spent = float(np.median(times[name]))
            key = f"gpu.{name}.{robot.name}.batch{batch}"
            yield Measurement(key, "kernel_us", kernel * 1e6)
            yield Measurement(key, "time_us", spent * 1e6)
            yield Measurement(key, "time_over_kernel", spent / kernel)


def _kernel_time(robot: Any, values: tuple[Any, ...]) -> float:
    import torch

    arrays = [torch.from_numpy(v).cuda() for v in values]
    return device_times({"kernel": lambda: robot.inverse_dynamics(*arrays)})["kernel"] * 1e-6


Program = tuple[Callable[[], object], Callable[[], object]]
"""Enqueues a chain of calls; waits for all that was enqueued."""


def _jax_program(robot: Any, values: tuple[Any, ...]) -> Program:
    import jax

    arrays = tuple(map(jax.numpy.asarray, values))
    last = []

    @jax.jit
    def chain(q: Any, qd: Any, qdd: Any) -> Any:
        for _ in range(CHAIN):
            qdd = robot.inverse_dynamics(q, qd, qdd)
        return qdd

    def enqueue() -> None:
        last[:] = [chain(*arrays)]

    return enqueue, lambda: jax.block_until_ready(last)


def _torch_program(robot: Any, values: tuple[Any, ...]) -> Program:
    import torch

    q, qd, qdd = (torch.from_numpy(v).cuda() for v in values)
    robot.inverse_dynamics(q, qd, qdd)
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(CHAIN):
            qdd = robot.inverse_dynamics(q, qd, qdd)
    return graph.replay, torch.cuda.synchronize


def _per_call(enqueue: Callable[[], object], wait: Callable[[], object]) -> Callable[[], float]:
    def turn() -> float:
        enqueue()
        wait()
        start = time.perf_counter()
        for _ in range(PROGRAMS):
            enqueue()
        wait()
        return (time.perf_counter() - start) / (PROGRAMS * CHAIN)

    return turn


def _two_gpus(store: Path) -> Iterator[Measurement]:
    """Time one program on a batch that lies on one GPU, and on the same batch divided between two."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = jax.devices()
    if len(devices) < 2:
        print("frameworks-gpu: one GPU, nothing measured on two", file=sys.stderr)
        return
    options = {**IIWA14.options, "device": "cuda", "cache_dir": store, "lazy": True}
    robot = grid_rbd.load_robot(IIWA14.path, backend="jax", **options)
    values = samples(robot.nq, robot.nv, SHARDED, IIWA14.floating)
    gradient = jax.jit(robot.inverse_dynamics_gradient)
    divided = NamedSharding(Mesh(np.array(devices[:2]), "batch"), PartitionSpec("batch"))
    programs = {}
    for name, place in (("one", devices[0]), ("two", divided)):
        arrays = [jax.device_put(v, place) for v in values]
        programs[name] = _waited(gradient, arrays)
    times = race(programs, ROUNDS)
    one, two = (float(np.median(times[name])) for name in ("one", "two"))
    key = "gpu.jax.iiwa14.inverse_dynamics_gradient"
    yield Measurement(key, "one_gpu_ms", one * 1e3)
    yield Measurement(key, "two_gpus_ms", two * 1e3)
    yield Measurement(key, "two_gpus_speedup", one / two)


def _waited(function: Callable[..., Any], arrays: list[Any]) -> Callable[[], float]:
    import jax

    def turn() -> float:
        start = time.perf_counter()
        for _ in range(PROGRAMS):
            found = function(*arrays)
        jax.block_until_ready(found)
        return (time.perf_counter() - start) / PROGRAMS

    return turn
