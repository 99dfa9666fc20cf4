"""The CUDA target on one GPU: device time beside grid-rbd 0.6.0, bandwidth, double precision, NumPy calls, builds.

``python -m benchmarks gpu`` needs a GPU, nvcc and PyTorch, whose profiler measures both sides. The peer is optional;
what is missing is said.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import grid_rbd
from benchmarks.building import cold_build
from benchmarks.device_time import copy_bandwidth, device_times
from benchmarks.peers.grid_rbd_060 import Peer
from benchmarks.report import Bar, Measurement
from benchmarks.robots import G1, GO2, IIWA14, Robot
from benchmarks.samples import samples
from benchmarks.timing import median_call
from grid_backends.errors import CudaError
from grid_backends.numpy import RobotHandle

ROBOTS = (IIWA14, GO2, G1)
ALGORITHMS = ("inverse_dynamics", "forward_dynamics", "aba", "inverse_dynamics_gradient", "forward_dynamics_gradient")
BATCHES = (16, 64, 256, 1024, 4096, 16384)
HUGE = 1 << 20
LARGE = 16384
"""Where float64 is compared with float32."""

BARS = [
    Bar("gpu.speedup.geometric_mean", 7, upwards=True),
    Bar("gpu.speedup.smallest", 2, upwards=True),
    Bar("gpu.host_speedup.geometric_mean", 3, upwards=True),
    Bar("gpu.host_speedup.smallest", 1.5, upwards=True),
    Bar("gpu.iiwa14.inverse_dynamics.batch1048576.share_of_bandwidth", 0.45, upwards=True),
    Bar("gpu.iiwa14.inverse_dynamics_gradient.batch1048576.share_of_bandwidth", 0.28, upwards=True),
    Bar("gpu.float64_over_float32.largest", 3),
    Bar("gpu.estimate_over_tuned.largest", 1.3),
    Bar("gpu.iiwa14.build.cold_s", 15),
    Bar("gpu.g1.build.cold_s", 60),
]


def measure(store: Path) -> Iterator[Measurement]:
    """Build the robots anew in stores beside ``store`` and measure them; without a GPU or PyTorch, only say so."""
    if reason := missing():
        print(f"gpu: not measured: {reason}", file=sys.stderr)
        return
    own = store.with_name("gpu")
    yield from _builds(own)
    handles = {robot.name: _handle(robot, "float32", own) for robot in ROBOTS}
    yield from _against_peer(handles, store.with_name("peer"))
    yield from _bandwidth(handles["iiwa14"])
    yield from _double(handles, own)
    yield from _estimates(own)


def missing() -> str:
    """Return why nothing can be measured on a GPU, or an empty text."""
    try:
        import torch
    except ImportError:
        return "PyTorch is not installed, whose profiler measures device time"
    try:
        from grid_backends.native import cuda_device_count

        devices = cuda_device_count()
    except CudaError as error:
        return str(error)
    return "" if devices and torch.cuda.is_available() else "there is no GPU that PyTorch can use"


def _options(robot: Robot) -> dict[str, Any]:
    return {**robot.options, "device": "cuda", "algorithm_list": list(ALGORITHMS)}


def _builds(store: Path) -> Iterator[Measurement]:
    shutil.rmtree(store, ignore_errors=True)
    yield Measurement("gpu.build", "processors", len(os.sched_getaffinity(0)))
    for robot in ROBOTS:
        seconds, _ = cold_build(robot, store / robot.name, **_options(robot))
        yield Measurement(f"gpu.{robot.name}.build", "cold_s", seconds)


def _handle(robot: Robot, dtype: str, store: Path) -> RobotHandle:
    return grid_rbd.register_robot(robot.name, robot.path, cache_dir=store / robot.name, dtype=dtype, **_options(robot))


def _arguments(handle: RobotHandle, batch: int, dtype: str = "float32") -> list[np.ndarray]:
    return [a.astype(dtype) for a in samples(handle.nq, handle.nv, batch, handle.floating_base)]


def _device_call(handle: RobotHandle, algorithm: str, batch: int) -> Callable[[], object]:
    """Return a call on device arrays, with results in new device memory as the peer's."""
    import torch

    arguments = [torch.from_numpy(a).cuda() for a in _arguments(handle, batch, handle.dtype)]
    method = getattr(handle, algorithm)
    return lambda: method(*arguments)


def _host_call(handle: RobotHandle, algorithm: str, batch: int) -> Callable[[], object]:
    arguments = _arguments(handle, batch)
    method = getattr(handle, algorithm)
    return lambda: method(*arguments)


def _against_peer(handles: dict[str, RobotHandle], store: Path) -> Iterator[Measurement]:
    peer = Peer(store)
    requests = {robot.name: _request(robot) for robot in ROBOTS}
    absent = peer.missing()
    if absent:
        print(f"gpu: no ratios: {absent}", file=sys.stderr)
    else:
        for name, seconds in peer.build(list(requests.values())).items():
            yield Measurement(f"gpu.{name}.build", "peer_s", seconds)
    ratios: dict[str, list[float]] = {"speedup": [], "host_speedup": []}
    for name, handle in handles.items():
        device = {} if absent else peer.device_times(requests[name])
        host = {} if absent else peer.host_times(requests[name])
        for measurement in (
            *_cells(name, "device", "speedup", _device_microseconds(handle), device),
            *_cells(name, "host", "host_speedup", _host_microseconds(handle), host),
        ):
            yield measurement
            if measurement.metric in ratios:
                ratios[measurement.metric].append(measurement.value)
    for ratio, values in ratios.items():
        if values:
            yield Measurement(f"gpu.{ratio}", "geometric_mean", statistics.geometric_mean(values))
            yield Measurement(f"gpu.{ratio}", "smallest", min(values))


def _cells(
    robot: str, kind: str, ratio: str, own: dict[str, dict[int, float]], peer: dict[str, dict[str, float]]
) -> Iterator[Measurement]:
    """Yield the times of every algorithm and batch, those of the peer if there are any, and their ratio."""
    for algorithm, times in own.items():
        for batch, microseconds in times.items():
            cell = f"gpu.{robot}.{algorithm}.batch{batch}"
            yield Measurement(cell, f"{kind}_us", microseconds)
            if peer:
                theirs = peer[algorithm][str(batch)]
                yield Measurement(cell, f"peer_{kind}_us", theirs)
                yield Measurement(cell, ratio, theirs / microseconds)


def _request(robot: Robot) -> dict[str, Any]:
    return {
        "name": robot.name,
        "path": str(robot.path),
        "floating": robot.floating,
        "algorithms": ALGORITHMS,
        "batches": BATCHES,
    }


def _device_microseconds(handle: RobotHandle) -> dict[str, dict[int, float]]:
    times = {}
    for algorithm in ALGORITHMS:
        calls = {str(batch): _device_call(handle, algorithm, batch) for batch in BATCHES}
        times[algorithm] = {int(batch): microseconds for batch, microseconds in device_times(calls).items()}
    return times


def _host_microseconds(handle: RobotHandle) -> dict[str, dict[int, float]]:
    return {
        algorithm: {batch: median_call(_host_call(handle, algorithm, batch)) * 1e6 for batch in BATCHES}
        for algorithm in ALGORITHMS
    }


def _bandwidth(handle: RobotHandle) -> Iterator[Measurement]:
    """Measure how long the bytes of a call take at the bandwidth of a copy, as a share of what the call takes."""
    bandwidth = copy_bandwidth()
    yield Measurement("gpu.copy", "terabytes_per_s", bandwidth / 1e12)
    sizes = {"inverse_dynamics": handle.nv, "inverse_dynamics_gradient": 2 * handle.nv**2}
    for algorithm, size in sizes.items():
        seconds = device_times({"call": _device_call(handle, algorithm, HUGE)})["call"] * 1e-6
        moved = 4 * HUGE * (handle.nq + 2 * handle.nv + size)
        name = f"gpu.iiwa14.{algorithm}.batch{HUGE}"
        yield Measurement(name, "device_us", seconds * 1e6)
        yield Measurement(name, "share_of_bandwidth", moved / bandwidth / seconds)


def _double(handles: dict[str, RobotHandle], store: Path) -> Iterator[Measurement]:
    worst = 0.0
    for robot in ROBOTS:
        double = _handle(robot, "float64", store.with_name("gpu64"))
        for algorithm in ALGORITHMS:
            calls = {d.dtype: _device_call(d, algorithm, LARGE) for d in (handles[robot.name], double)}
            times = device_times(calls)
            name = f"gpu.{robot.name}.{algorithm}.batch{LARGE}"
            yield Measurement(name, "float64_over_float32", times["float64"] / times["float32"])
            worst = max(worst, times["float64"] / times["float32"])
    yield Measurement("gpu.float64_over_float32", "largest", worst)


def _estimates(store: Path) -> Iterator[Measurement]:
    """Tune the robots; measure how much longer the shape takes that would be launched without."""
    worst = 0.0
    for robot in ROBOTS:
        for tuning in grid_rbd.tune_robot(robot.name, store / robot.name, batch_sizes=BATCHES):
            for batch, times in tuning.seconds.items():
                estimated = times[tuning.estimated[batch]] / min(times.values())
                yield Measurement(f"gpu.{robot.name}.{tuning.algorithm}.batch{batch}", "estimate_over_tuned", estimated)
                worst = max(worst, estimated)
    yield Measurement("gpu.estimate_over_tuned", "largest", worst)
