"""The earlier grid-rbd, version 0.6.0, in processes of its own, since both packages have one name.

Install it with ``pip install --target FOLDER grid-rbd==0.6.0 beautifulsoup4 soupsieve trimesh platformdirs`` and set
``GRID_RBD_PEER`` to the folder. Each command prints one JSON document: ``build`` a robot, or measure one that is built.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.calls import Call, Times, device_call_times, host_call_times
from benchmarks.robots import Robot

VARIABLE = "GRID_RBD_PEER"
ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
sys.path = [*filter(None, sys.path), sys.argv[1]]  # not the folder in which we are, perhaps the checkout
from benchmarks.peers.grid_rbd_060 import main
main(sys.argv[2])
"""

ALGORITHMS = {"idsva_so": "idsva_so_body_frame"}
"""What is built for a method, where the names differ."""

Request = Mapping[str, Any]
"""A robot of the peer, and the calls that are measured; it can be written as JSON."""


def request(name: str, robot: Robot, calls: Sequence[Call], batches: Sequence[int]) -> Request:
    """Return the robot ``name`` with what the calls need and no more, since the peer takes minutes to compile."""
    return {
        "name": name,
        "path": str(robot.path),
        "floating": robot.floating,
        "algorithms": sorted({ALGORITHMS.get(call.method, call.method) for call in calls}),
        "calls": [asdict(call) for call in calls],
        "batches": list(batches),
    }


class PeerError(Exception):
    """The peer failed, or was not ready in time."""


class Build:
    """A robot that is being built, in a process that leads a session of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def seconds(self, patience: float | None = None) -> float:
        """Wait, for ``patience`` seconds at most, and return how long it took.

        Raises
        ------
        PeerError
            It failed, or was not ready in time.
        """
        return float(_answer(self._process, patience)["seconds"])

    def end(self) -> None:
        """End it with its compilers, if it is still running."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Peer:
    """Starts the processes.

    Parameters
    ----------
    store : Path
        Where the peer keeps its builds.
    """

    def __init__(self, store: Path) -> None:
        self._store = store

    @staticmethod
    def missing() -> str:
        """Return what keeps the peer from running here; empty if nothing does."""
        folder = os.environ.get(VARIABLE)
        if not folder:
            return f"{VARIABLE} is not set; it names a folder with grid-rbd 0.6.0 (see {Path(__file__).name})"
        return "" if (Path(folder) / "grid_rbd").is_dir() else f"{VARIABLE}={folder} has no grid_rbd"

    @contextlib.contextmanager
    def builds(self, robots: Iterable[Request]) -> Iterator[dict[str, Build]]:
        """Build all robots at once while the caller goes on; what is still running at the end is ended."""
        started = {robot["name"]: Build(self._start("build", robot, start_new_session=True)) for robot in robots}
        try:
            yield started
        finally:
            for build in started.values():
                build.end()

    def device_times(self, robot: Request) -> Times:
        """Return device times of the calls."""
        return Times(**_answer(self._start("device", robot)))

    def host_times(self, robot: Request) -> Times:
        """Return times of the calls on NumPy arrays, from the call to the result."""
        return Times(**_answer(self._start("host", robot)))

    def _start(self, action: str, robot: Request, **options: Any) -> subprocess.Popen[str]:
        document = json.dumps({"action": action, "store": str(self._store), **robot})
        environment = {**os.environ, "PYTHONPATH": os.environ[VARIABLE]}
        command = [sys.executable, "-c", PROGRAM, str(ROOT), document]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, **options)


def _answer(process: subprocess.Popen[str], patience: float | None = None) -> dict[str, Any]:
    try:
        output, _ = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        raise PeerError(f"grid-rbd 0.6.0 was not ready after another {patience:.0f} s") from None
    if process.returncode:
        raise PeerError(f"grid-rbd 0.6.0 failed with exit status {process.returncode}")
    answer: dict[str, Any] = json.loads(output.splitlines()[-1])
    return answer


def main(document: str) -> None:
    """Do what a request says, in a process that has the peer on its path."""
    warnings.simplefilter("ignore")
    robot = json.loads(document)
    actions: dict[str, Callable[[Request], Any]] = {"build": _build, "device": _device, "host": _host}
    print(json.dumps(actions[robot["action"]](robot)))


def _handle(robot: Request, backend: str) -> Any:
    import grid_rbd

    with contextlib.redirect_stdout(io.StringIO()):
        return grid_rbd.register_robot(
            robot["name"], robot["path"], cache_dir=robot["store"], enable_mujoco_kernels=False,
            algorithm_list=robot["algorithms"], floating_base=robot["floating"],
            max_batch_size=max(robot["batches"]), backend=backend,
        )  # fmt: skip


def _build(robot: Request) -> dict[str, float]:
    began = time.perf_counter()
    _handle(robot, "torch")
    return {"seconds": time.perf_counter() - began}


def _calls(robot: Request) -> list[Call]:
    return [Call(**call) for call in robot["calls"]]


def _device(robot: Request) -> dict[str, Any]:
    return asdict(device_call_times(_handle(robot, "torch"), _calls(robot), robot["batches"], robot["floating"]))


def _host(robot: Request) -> dict[str, Any]:
    return asdict(host_call_times(_handle(robot, "numpy"), _calls(robot), robot["batches"], robot["floating"]))
