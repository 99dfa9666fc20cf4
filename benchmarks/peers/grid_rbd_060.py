"""The earlier grid-rbd, version 0.6.0, in processes of its own, since both packages have one name.

Install it with ``pip install --target FOLDER grid-rbd==0.6.0 beautifulsoup4 soupsieve trimesh platformdirs`` and set
``GRID_RBD_PEER`` to the folder. Each command prints one JSON document: ``build`` a robot, or measure one that is built.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

VARIABLE = "GRID_RBD_PEER"
ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from benchmarks.peers.grid_rbd_060 import main; main(sys.argv[2])"


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

    def build(self, robots: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Build all robots at once; return the seconds of each."""
        started = {r["name"]: self._start("build", r) for r in robots}
        return {name: _answer(process)["seconds"] for name, process in started.items()}

    def device_times(self, robot: Mapping[str, Any]) -> dict[str, dict[str, float]]:
        """Return device microseconds by algorithm and batch."""
        return _answer(self._start("device", robot))

    def host_times(self, robot: Mapping[str, Any]) -> dict[str, dict[str, float]]:
        """Return microseconds of calls on NumPy arrays by algorithm and batch."""
        return _answer(self._start("host", robot))

    def _start(self, action: str, robot: Mapping[str, Any]) -> subprocess.Popen[str]:
        request = json.dumps({"action": action, "store": str(self._store), **robot})
        environment = {**os.environ, "PYTHONPATH": os.environ[VARIABLE]}
        command = [sys.executable, "-P", "-c", PROGRAM, str(ROOT), request]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def _answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the peer failed with exit status {process.returncode}")
    answer: dict[str, Any] = json.loads(output.splitlines()[-1])
    return answer


def main(request: str) -> None:
    """Do what a request says, in a process that has the peer on its path."""
    warnings.simplefilter("ignore")
    robot = json.loads(request)
    actions: dict[str, Callable[[Mapping[str, Any]], Any]] = {"build": _build, "device": _device, "host": _host}
    print(json.dumps(actions[robot["action"]](robot)))


def _handle(robot: Mapping[str, Any], backend: str) -> Any:
    import grid_rbd

    with contextlib.redirect_stdout(io.StringIO()):
        return grid_rbd.register_robot(
            robot["name"], robot["path"], cache_dir=robot["store"], enable_mujoco_kernels=False,
            algorithm_list=robot["algorithms"], floating_base=robot["floating"],
            max_batch_size=max(robot["batches"]), backend=backend,
        )  # fmt: skip


def _build(robot: Mapping[str, Any]) -> dict[str, float]:
    began = time.perf_counter()
    _handle(robot, "torch")
    return {"seconds": time.perf_counter() - began}


def _device(robot: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    import torch

    from benchmarks.device_time import device_times
    from benchmarks.samples import samples

    handle = _handle(robot, "torch")
    arguments = {
        batch: [torch.from_numpy(a).cuda() for a in samples(handle.nq, handle.nv, batch, robot["floating"])]
        for batch in robot["batches"]
    }
    return {
        name: device_times({str(batch): partial(getattr(handle, name), *a) for batch, a in arguments.items()})
        for name in robot["algorithms"]
    }


def _host(robot: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    from benchmarks.samples import samples
    from benchmarks.timing import median_call

    handle = _handle(robot, "numpy")
    arguments = {batch: samples(handle.nq, handle.nv, batch, robot["floating"]) for batch in robot["batches"]}
    return {
        name: {str(batch): median_call(partial(getattr(handle, name), *a)) * 1e6 for batch, a in arguments.items()}
        for name in robot["algorithms"]
    }
