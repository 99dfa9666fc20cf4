"""NVIDIA's compute-sanitizer on a real GPU, ``nox -s gpu-sanitize``: neither wrong accesses nor races."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grid_backends.cuda.gpu import CASES, build

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("compute")]

FOUND = 9
"""Exit status of the tool if it found something."""

COPY = """
import numpy as np
from grid_backends.native import to_device

assert to_device(np.arange(3.0)).numpy()[2] == 2.0
"""

CALLS = """
from tests.grid_backends.cuda.gpu import arguments, opened, shapes

robot = opened({label!r}, {dtype!r}, "cuda")
for name in {names!r}:
    for layout in ("batch_first", "batch_last"):
        robot.output_layout = layout
        for threads in shapes(robot):
            getattr(robot, name)(**arguments(name, robot, 33, full=threads == 32))
"""


def sanitized(sanitizer: str, tool: str, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in this environment under one of the sanitizer's tools."""
    # Only the first process has kernels, others are compilers; and some calls of the driver are meant to fail.
    options = ["--target-processes", "application-only", "--report-api-errors", "no", "--error-exitcode", str(FOUND)]
    command = [sanitizer, "--tool", tool, *options, sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def sanitizer(compute: int) -> str:
    """Return the path of the tool: from the CUDA toolkit, or from the package nvidia-cuda-sanitizer-api."""
    packaged = [str(Path(folder) / "nvidia" / "cu13" / "bin") for folder in sys.path]
    path = shutil.which("compute-sanitizer", path=os.pathsep.join([os.environ["PATH"], *packaged]))
    if path is None:
        pytest.skip(
            "compute-sanitizer is missing; it is in CUDA toolkits, and in the package nvidia-cuda-sanitizer-api"
        )
    probe = sanitized(path, "memcheck", COPY)
    if probe.returncode not in (0, FOUND) or "not supported" in probe.stdout:
        pytest.skip(f"compute-sanitizer does not work on this machine: {probe.stdout[-1000:]}{probe.stderr[-1000:]}")
    return path


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
@pytest.mark.parametrize("label", CASES)
def test_finds_nothing(sanitizer: str, label: str, tool: str) -> None:
    """Every algorithm in every shape and layout."""
    case = CASES[label]
    dtype = case.dtypes[-1]
    build(label, dtype, "cuda")
    result = sanitized(sanitizer, tool, CALLS.format(label=label, dtype=dtype, names=[*case.algorithms()]))
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
