"""The first calls of a process, from many threads at once: whoever opens a unit must not wait with Python's lock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.grid_backends.robots import URDF

PROGRAM = """
import sys, threading
import numpy as np
import grid_rbd

robot = grid_rbd.get_robot("first", sys.argv[1])
robot.threads = 2
q = robot.neutral()
ready, found = threading.Barrier(16), []

def call():
    ready.wait()
    found.append(robot.crba(q))

threads = [threading.Thread(target=call) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 16 and all((f == found[0]).all() for f in found)
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, compiled: Callable[..., Any]) -> str:
    import grid_rbd

    root = str(tmp_path_factory.mktemp("first"))
    grid_rbd.register_robot("first", urdf_string=URDF, algorithm_list="crba", cache_dir=root)
    return root


def test_many_threads_make_the_first_call(root: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(8):
        command = [sys.executable, "-W", "ignore", "-c", PROGRAM, root]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 0, ran.stderr
