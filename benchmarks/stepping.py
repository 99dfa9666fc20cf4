"""What steps in time, their derivatives and costs take, on one thread, in units of the dynamics beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import grid_rbd
from benchmarks.report import Bar, Measurement
from benchmarks.robots import GO2, IIWA14, Robot
from benchmarks.timing import median_ratio, on_processors, race, ratio, repeated
from grid_backends.numpy import RobotHandle
from grid_core.plugins.manager import load_catalogue
from grid_rbd.samples import sample_arguments

BATCH = 256
ROUNDS = 40
SECONDS = 0.01
DTYPES = ("float64", "float32")
PAIRS = (("integrator_rk4", "forward_dynamics"), ("integrator_gradient_rk4", "forward_dynamics_gradient"))
"""A step, and what it evaluates four times."""
MOST = dict(zip(PAIRS, (4.4, 5.0)))

MENU = ("tracking_cost_menu", "inverse_dynamics_gradient")
"""All terms of the cost menu with value, gradient and Hessian, and what it is measured by."""
MENU_OPTIONS = {"cost_frames": ("iiwa_joint_4",), "cost_features": (3, 3)}
SHARED = ("W", "Q", "R", "Ax", "bx", "Wx", "Au", "bu", "Wu", "Wo", "Wv", "Wcf", "mu")
"""Parameters of the menu that are the same for all samples, as they are along the horizon of a controller."""

BARS = [
    Bar(f"iiwa14.{step}.{dtype}.per_{evaluation}", most)
    for (step, evaluation), most in {**MOST, MENU: 1.0}.items()
    for dtype in DTYPES
]


def measure(store: Path) -> Iterator[Measurement]:
    """Measure steps and what they evaluate in turns."""
    for robot in (IIWA14, GO2):
        for dtype in DTYPES:
            handle = grid_rbd.load_robot(
                robot.path, dtype=dtype, cache_dir=store, threads=1, lazy=True, **robot.options
            )
            for step, evaluation in PAIRS:
                yield from _pair(robot, handle, step, evaluation)
    for dtype in DTYPES:
        options = {**IIWA14.options, **MENU_OPTIONS}
        handle = grid_rbd.load_robot(IIWA14.path, dtype=dtype, cache_dir=store, threads=1, lazy=True, **options)
        yield from _pair(IIWA14, handle, *MENU)


def _pair(robot: Robot, handle: RobotHandle, step: str, evaluation: str) -> Iterator[Measurement]:
    turns = {name: repeated(_call(handle, name), SECONDS) for name in (step, evaluation)}
    with on_processors(1):
        times = race(turns, ROUNDS)
    name = f"{robot.name}.{step}.{handle.dtype}"
    yield Measurement(name, "ns_per_sample", min(times[step]) / BATCH * 1e9)
    yield Measurement(name, f"per_{evaluation}", ratio(times, step, evaluation))
    yield Measurement(name, f"per_{evaluation}_median", median_ratio(times, step, evaluation))


def _call(handle: RobotHandle, algorithm: str) -> Callable[[], object]:
    arguments = sample_arguments(load_catalogue().algorithms[algorithm], handle, BATCH)
    arguments.pop("f_ext", None)
    arguments |= {name: arguments[name][0] for name in SHARED if name in arguments}
    method = getattr(handle, algorithm)
    out = method(**arguments)
    return lambda: method(**arguments, out=out)
