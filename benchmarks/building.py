"""What building costs: cold builds on two processors, one more algorithm, a warm start, the size of the header.

``dynamics`` stands for the family of that name, ``all`` for all families.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import grid_rbd
from benchmarks.report import Bar, Measurement
from benchmarks.robots import G1, IIWA14, Robot
from benchmarks.timing import on_processors
from grid_core.plugins.manager import load_catalogue
from grid_rbd.header import generate_header

BARS = [
    Bar("iiwa14.build.dynamics_core_s", 6),
    Bar("iiwa14.build.dynamics_s", 20),
    Bar("iiwa14.build.all_s", 90),
    Bar("g1.build.dynamics_s", 150),
    Bar("g1.build.dynamics_peak_gb", 3),
    Bar("g1.build.all_s", 720),
    Bar("g1.build.all_peak_gb", 4),
    Bar("iiwa14.build.units_for_one_more", 1.5),
    Bar("iiwa14.start.warm_ms", 150),
    Bar("iiwa14.header.kb", 400),
]
STARTS = 15
BYTECODE = Path(__file__).parent / "build" / "bytecode"
"""Where processes keep compiled modules, as an installed package does even where the environment forbids it."""
BUILD = """
import json, sys, time
began = time.perf_counter()
import grid_rbd
path, store, options = json.loads(sys.argv[1])
grid_rbd.register_robot("cold", path, cache_dir=store, **options)
print(time.perf_counter() - began)
"""
START = """
import sys, time
import numpy as np
q = np.zeros((1, 7), np.float32)
began = time.perf_counter()
import grid_rbd
grid_rbd.get_robot("cold", sys.argv[1]).inverse_dynamics(q, q, q)
print(time.perf_counter() - began)
"""


def measure(store: Path) -> Iterator[Measurement]:
    """Measure builds into an emptied store, which afterwards holds these robots in the default float type."""
    with on_processors(2):
        seconds, _ = cold_build(IIWA14, store, algorithm_list="dynamics-core")
        yield Measurement("iiwa14.build", "dynamics_core_s", seconds)
        yield Measurement("iiwa14.build", "units_for_one_more", _misses_for_one_more(store))
        family = [a.name for a in load_catalogue().algorithms.values() if a.family == "dynamics"]
        seconds, _ = cold_build(IIWA14, store, algorithm_list=family)
        yield Measurement("iiwa14.build", "dynamics_s", seconds)
        seconds, _ = cold_build(IIWA14, store)
        yield Measurement("iiwa14.build", "all_s", seconds)
        starts = [run_python(START, str(store)) * 1e3 for _ in range(STARTS)]
        yield Measurement("iiwa14.start", "warm_ms", min(starts))
        yield Measurement("iiwa14.start", "warm_median_ms", statistics.median(starts))
        for name, options in {"dynamics": {"algorithm_list": family}, "all": {}}.items():
            seconds, peak = cold_build(G1, store, **options)
            yield Measurement("g1.build", f"{name}_s", seconds)
            yield Measurement("g1.build", f"{name}_peak_gb", peak / 1e9)
    for robot in (IIWA14, G1):
        header = generate_header(robot.path, algorithm_list=family, **robot.options)
        yield Measurement(f"{robot.name}.header", "kb", len(header.encode()) / 1e3)


def cold_build(robot: Robot, store: Path, **options: object) -> tuple[float, int]:
    """Return seconds and peak bytes of a build into an empty store by a fresh process."""
    shutil.rmtree(store, ignore_errors=True)
    with PeakMemory() as memory:
        seconds = run_python(BUILD, json.dumps([str(robot.path), str(store), {**robot.options, **options}]))
    return seconds, memory.bytes


def _misses_for_one_more(store: Path) -> int:
    """Return how many units a plan lacks that asks for one more algorithm than was built."""
    plan = grid_rbd.build_plan(
        "cold", IIWA14.path, cache_dir=store, algorithm_list=["dynamics-core", "coriolis_matrix"], **IIWA14.options
    )
    return sum(unit["status"] != "hit" for unit in plan["units"])


def run_python(program: str, *arguments: str) -> float:
    """Run a program in a fresh process and return the seconds that it prints."""
    command = [sys.executable, "-W", "ignore", "-c", program, *arguments]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(BYTECODE), "PYTHONDONTWRITEBYTECODE": ""}
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)


class PeakMemory:
    """The largest sum of resident memory of all processes below this one, sampled 20 times a second."""

    def __init__(self) -> None:
        self.bytes = 0
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            self.bytes = max(self.bytes, sum(map(_resident, _descendants())))


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text("utf-8").rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found: list[int] = []
    waiting = list(children.get(os.getpid(), []))
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    except OSError:
        return 0
