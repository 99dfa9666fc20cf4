"""Artifacts that threads and processes build at once, and builds that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grid_rbd
from tests.grid_consumers.conftest import Project
from tests.grid_core.units import GOLDEN, PENDULUM


def test_threads_build_several_artifacts_at_once(project: Project, compiled_files: list[str]) -> None:
    robots = {"arm": PENDULUM, "leg": PENDULUM, "long": GOLDEN / "iiwa14.urdf"}
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(project.build, name, urdf) for name, urdf in robots.items() for _ in range(2)]
        built = {job.result().name: job.result() for job in jobs}
    assert sorted(compiled_files) == ["helper.cpp", "use.cpp", "use.cpp"], (
        "each source once for each robot it depends on"
    )
    assert built["arm"].path == built["leg"].path != built["long"].path
    assert [a["name"] for a in grid_rbd.list_artifacts("planner", project.root)] == ["arm", "leg", "long"]


BUILD = """
import sys, grid_rbd
from pathlib import Path
sys.stdin.readline()
folder, root, urdf = map(Path, sys.argv[1:4])
artifact = grid_rbd.build_artifact(
    "planner", sys.argv[4], urdf, sources=[folder / "use.cpp", folder / "helper.cpp"],
    include_dirs=[folder / "first", folder / "second"], defines={"VERSION": 3}, algorithm_list="crba", cache_dir=root,
)
print(artifact.content_key, artifact.compiled)
"""


def test_processes_that_build_one_artifact_compile_once(project: Project) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(BUILD), str(project.folder), str(project.root), str(PENDULUM)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = [
        subprocess.Popen([*command, name], env=environment, text=True, **pipes) for name in ("arm", "arm", "leg", "arm")
    ]
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 4, ended
    keys, ran = zip(*(out.split() for out, _ in ended))
    assert len(set(keys)) == 1
    assert ran.count("True") == 1
    kinds = [entry.meta["kind"] for entry in project.store.entries()]
    assert sorted(kinds) == ["artifact", "compiler", "object", "object", "object"]
    assert [a["name"] for a in grid_rbd.list_artifacts("planner", project.root)] == ["arm", "leg"]


def test_a_build_that_was_killed_leaves_nothing_in_the_way(project: Project) -> None:
    slow = project.write(
        "slow", '#!/bin/sh\ncase "$*" in *" -c "*helper.cpp*) touch "$MARK"; sleep 20;; esac\nexec g++ "$@"\n'
    )
    slow.chmod(0o755)
    mark = project.folder / "compiling"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "CXX": str(slow), "MARK": str(mark)}
    command = [
        sys.executable,
        "-c",
        textwrap.dedent(BUILD),
        str(project.folder),
        str(project.root),
        str(PENDULUM),
        "arm",
    ]
    with subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not mark.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    assert mark.exists(), "it was compiling"
    assert grid_rbd.list_artifacts("planner", project.root) == []
    began = time.monotonic()
    assert project.build().compiled
    assert time.monotonic() - began < 20
    assert list((project.root / "v1" / "tmp").iterdir()) == []
