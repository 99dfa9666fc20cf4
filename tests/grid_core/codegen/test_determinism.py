"""Equal requests give equal bytes, in every process and on every Python."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grid_core.units import GOLDEN

ROOT = Path(__file__).parents[3]
SCRIPT = """
import hashlib, sys, warnings
warnings.simplefilter("ignore")
from grid_core.codegen.render import render_header, render_unit
from grid_core.kernel.settings import TraceSettings
from grid_core.model import load_model
from grid_core.plugins.manager import load_catalogue
algorithms = load_catalogue().algorithms
long = ("_rk4", "_rk4_mk", "_trapezoidal", "_midpoint")
names = [n for n, a in algorithms.items() if a.emit and not a.needs and not n.endswith(long)]
total = hashlib.sha256()
for floating in (False, True):
    model = load_model(sys.argv[1], floating_base=floating)
    settings = TraceSettings(True, "tanh", 0.03, frozenset(["inertia", "transform", "joint_dynamics"]))
    for algorithm in map(algorithms.get, names):
        total.update(render_unit(algorithm, model, algorithms, TraceSettings(), "float64").encode())
        total.update(render_unit(algorithm, model, algorithms, settings, "float32").encode())
    total.update(render_header(names, model, algorithms, TraceSettings()).encode())
print(total.hexdigest())
"""


def digest(python: str, seed: str) -> str:
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("", "store", "backends", "consumers"))
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    urdf = str(GOLDEN / "double_pendulum_continuous.urdf")
    done = subprocess.run([python, "-c", SCRIPT, urdf], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def here() -> str:
    return digest(sys.executable, "0")


@pytest.mark.parametrize("seed", ["1", "random"])
def test_hash_seeds_do_not_matter(seed: str, here: str) -> None:
    assert len(here) == hashlib.sha256().digest_size * 2
    assert digest(sys.executable, seed) == here


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13", "3.14"])
def test_python_versions_do_not_matter(version: str, here: str) -> None:
    python = shutil.which(f"python{version}")
    if python is None or version == ".".join(map(str, sys.version_info[:2])):
        pytest.skip(f"no other python{version}")
    try:
        found = digest(python, "0")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"python{version} lacks the dependencies: {error.stderr.splitlines()[-1:]}")
    assert found == here
