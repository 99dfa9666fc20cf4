"""Time per sample on one thread, side by side with Pinocchio, and what two threads and single samples cost."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

import grid_rbd
from benchmarks.peers.pinocchio import ALGORITHMS, Pinocchio
from benchmarks.report import Bar, Measurement
from benchmarks.robots import G1, IIWA14, ROBOTS, Robot
from benchmarks.timing import Contestant, median_ratio, on_processors, race, ratio, repeated
from grid_backends.numpy import RobotHandle
from grid_core.plugins.manager import load_catalogue
from grid_rbd.samples import sample_arguments

BATCH, LARGE_BATCH = 1024, 4096
ROUNDS = 40
SECONDS = 0.01
"""How long one turn lasts at least."""
DTYPES = ("float64", "float32")

BARS = [
    Bar(f"{robot}.{algorithm}.{dtype}.speedup", bound, upwards=True)
    for robot, algorithm, *bounds in (
        ("iiwa14", "inverse_dynamics", 24, 33),
        ("iiwa14", "aba", 18, 26),
        ("iiwa14", "forward_dynamics", 18, 26),
        ("iiwa14", "crba", 10, 10),
        ("iiwa14", "inverse_dynamics_gradient", 14, 21),
        ("g1", "inverse_dynamics", 14, 22),
        ("g1", "inverse_dynamics_gradient", 10, 20),
        ("g1", "aba", 10, 16),
    )
    for dtype, bound in zip(DTYPES, bounds)
]
SCALED = ((IIWA14, "inverse_dynamics"), (IIWA14, "inverse_dynamics_gradient"), (G1, "inverse_dynamics"), (G1, "aba"))
BARS += [Bar(f"{robot.name}.{algorithm}.float64.two_threads", 1.8, upwards=True) for robot, algorithm in SCALED]
BARS += [Bar("iiwa14.inverse_dynamics.float64.call_us", 3), Bar("iiwa14.inverse_dynamics.float64.call_out_us", 3)]


def measure(store: Path) -> Iterator[Measurement]:
    """Measure every algorithm that the peer has, on every robot and in both float types."""
    for robot in ROBOTS:
        handles = {dtype: _handle(robot, dtype, store) for dtype in DTYPES}
        with on_processors(1), Pinocchio(robot, BATCH) as peer:
            assert (peer.nq, peer.nv) == (handles["float64"].nq, handles["float64"].nv)
            for algorithm in ALGORITHMS:
                yield from _against_peer(robot, algorithm, handles, peer)
    for robot, algorithm in SCALED:
        yield from _two_threads(robot, algorithm, store)
    yield from _single_sample(_handle(IIWA14, "float64", store))


def _handle(robot: Robot, dtype: str, store: Path) -> RobotHandle:
    options = {**robot.options, "algorithm_list": list(ALGORITHMS)}
    return grid_rbd.load_robot(robot.path, dtype=dtype, cache_dir=store, threads=1, **options)


def _call(handle: RobotHandle, algorithm: str, batch: int) -> Callable[[], object]:
    """Return a call with results written to existing memory, without external wrenches as on the peer's side."""
    declared = load_catalogue().algorithms[algorithm]
    arguments = sample_arguments(declared, handle, batch)
    arguments.pop("f_ext", None)
    method = getattr(handle, algorithm)
    out = method(**arguments)
    return lambda: method(**arguments, out=out)


def _against_peer(
    robot: Robot, algorithm: str, handles: dict[str, RobotHandle], peer: Pinocchio
) -> Iterator[Measurement]:
    contestants: dict[str, Contestant] = {"pinocchio": lambda: peer.nanoseconds(ALGORITHMS[algorithm])}
    for dtype, handle in handles.items():
        turn = repeated(_call(handle, algorithm, BATCH), SECONDS)
        contestants[dtype] = lambda turn=turn: turn() / BATCH * 1e9  # type: ignore[misc]
    times = race(contestants, ROUNDS)
    name = f"{robot.name}.{algorithm}"
    yield Measurement(f"{name}.pinocchio", "ns_per_sample", min(times["pinocchio"]))
    for dtype in handles:
        yield Measurement(f"{name}.{dtype}", "ns_per_sample", min(times[dtype]))
        yield Measurement(f"{name}.{dtype}", "speedup", ratio(times, "pinocchio", dtype))
        yield Measurement(f"{name}.{dtype}", "speedup_median", median_ratio(times, "pinocchio", dtype))


def _two_threads(robot: Robot, algorithm: str, store: Path) -> Iterator[Measurement]:
    """Measure one and two threads on a large batch. Two handles, so that neither waits for a setting to change."""
    one, two = _handle(robot, "float64", store), _handle(robot, "float64", store)
    two.threads = 2
    with on_processors(2):
        turns = {
            name: repeated(_call(handle, algorithm, LARGE_BATCH), SECONDS)
            for name, handle in (("one", one), ("two", two))
        }
        times = race(turns, 3 * ROUNDS)
    name = f"{robot.name}.{algorithm}.float64"
    yield Measurement(name, "two_threads", ratio(times, "one", "two"))
    yield Measurement(name, "two_threads_median", median_ratio(times, "one", "two"))


def _single_sample(handle: RobotHandle) -> Iterator[Measurement]:
    """Measure calls with one sample from Python, with and without memory for the result."""
    declared = load_catalogue().algorithms["inverse_dynamics"]
    q, qd, qdd = sample_arguments(declared, handle, 1).values()
    method, out = handle.inverse_dynamics, handle.inverse_dynamics(q, qd, qdd)
    with on_processors(1):
        turns = {
            "call_us": repeated(lambda: method(q, qd, qdd), SECONDS),
            "call_out_us": repeated(lambda: method(q, qd, qdd, out=out), SECONDS),
        }
        times = race(turns, 3 * ROUNDS)
    for metric, seconds in times.items():
        yield Measurement("iiwa14.inverse_dynamics.float64", metric, min(seconds) * 1e6)
        yield Measurement("iiwa14.inverse_dynamics.float64", f"{metric}_median", statistics.median(seconds) * 1e6)
