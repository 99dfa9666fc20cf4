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

import grid_rbd
from benchmarks.against_peer import cells
from benchmarks.building import cold_build
from benchmarks.calls import Call, Times, device_arguments, device_call_times, host_call_times
from benchmarks.device_time import copy_bandwidth, device_times
from benchmarks.peers.grid_rbd_060 import Peer, request
from benchmarks.report import Bar, Measurement
from benchmarks.robots import G1, GO2, IIWA14, Robot
from grid_backends.errors import CudaError
from grid_backends.numpy import RobotHandle

ROBOTS = (IIWA14, GO2, G1)
ALGORITHMS = ("inverse_dynamics", "forward_dynamics", "aba", "inverse_dynamics_gradient", "forward_dynamics_gradient")
CALLS = tuple(map(Call, ALGORITHMS))
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


def _device_call(handle: RobotHandle, algorithm: str, batch: int) -> Callable[[], object]:
    """Return a call on device arrays, with results in new device memory as the peer's."""
    return Call(algorithm).on(handle, device_arguments(handle, batch, handle.floating_base, handle.dtype))


def _against_peer(handles: dict[str, RobotHandle], store: Path) -> Iterator[Measurement]:
    peer = Peer(store)
    requests = {robot.name: request(robot.name, robot, CALLS, BATCHES) for robot in ROBOTS}
    absent = peer.missing()
    if absent:
        print(f"gpu: no ratios: {absent}", file=sys.stderr)
    else:
        with peer.builds(requests.values()) as builds:
            for name, build in builds.items():
                yield Measurement(f"gpu.{name}.build", "peer_s", build.seconds())
    ratios: dict[str, list[float]] = {"speedup": [], "host_speedup": []}
    for name, handle in handles.items():
        device = Times() if absent else peer.device_times(requests[name])
        host = Times() if absent else peer.host_times(requests[name])
        given = (handle, CALLS, BATCHES, handle.floating_base)
        for measurement in (
            *cells(f"gpu.{name}", "device", device_call_times(*given), device),
            *cells(f"gpu.{name}", "host", host_call_times(*given), host),
        ):
            yield measurement
            if measurement.metric in ratios:
                ratios[measurement.metric].append(measurement.value)
    for ratio, values in ratios.items():
        if values:
            yield Measurement(f"gpu.{ratio}", "geometric_mean", statistics.geometric_mean(values))
            yield Measurement(f"gpu.{ratio}", "smallest", min(values))


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
